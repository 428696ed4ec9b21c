/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate report leaves out of texts, and what it does not. */

#include "report/scrub.h"

#include "fixture.h"

#define HEX_128 "0123456789abcdef0123456789ABCDEF"
#define HEX_256 HEX_128 HEX_128

static const struct {
        const char *text, *expected; /* NULL: as it is */
} secrets[] = {
        {"", NULL},
        {"\n", NULL},
        {"one\ntwo\n", NULL},
        {"rd.luks.key=/boot/key root=/dev/vg/root", NULL},
        {"rd.iscsi.password=a rd.iscsi.password_in=b quiet",
                "rd.iscsi.password=<secret> rd.iscsi.password_in=<secret> quiet"},
        {"netroot=iscsi:user:secret1@10.0.0.1::3260::iqn", "netroot=iscsi:user:<secret>@10.0.0.1::3260::iqn"},
        {"//nas/x /srv cifs user=a,password=b c,ro 0 0", "//nas/x /srv cifs user=a,password=<secret> c,ro 0 0"},
        {"rd.iscsi.password=ab,cd quiet", "rd.iscsi.password=<secret> quiet"},
        {"netroot=iscsi:user:pa/ss@10.0.0.1::3260::iqn", "netroot=iscsi:user:<secret>@10.0.0.1::3260::iqn"},
        {"secret-box: 0 8192 linear 8:0 0", NULL},
        {"PassPhrase: \"a b\"", "PassPhrase: \"<secret>\""},
        {"{\"token\": \"abc\", \"vg\": \"data\"}", "{\"token\": \"<secret>\", \"vg\": \"data\"}"},
        {"apikey=abc key = def", "apikey=<secret> key = <secret>"},
        {"unknown key: deadlin", NULL},
        {"https://joe:abc@host/x", "https://joe:<secret>@host/x"},
        {"home: 0 204800 crypt aes-xts-plain64 " HEX_256 " 0 8:0 4096",
                "home: 0 204800 crypt aes-xts-plain64 <secret> 0 8:0 4096"},
        {"home: 0 8 crypt aes-cbc-plain " HEX_128 " 0 8:0 0\nb: 0 8 linear 8:0 0",
                "home: 0 8 crypt aes-cbc-plain <secret> 0 8:0 0\nb: 0 8 linear 8:0 0"},
        {"home: 0 8 crypt aes :32:logon:cryptsetup:1 0 8:0 0", "home: 0 8 crypt aes <secret> 0 8:0 0"},
        {"x: 0 8 integrity 8:0 0 32 J 2 internal_hash:hmac(sha256):00ff fix",
                "x: 0 8 integrity 8:0 0 32 J 2 internal_hash:hmac(sha256):<secret> fix"},
        {"boot = \"" HEX_128 "\", wwn-0x" HEX_128, NULL},
        {"a " HEX_256 HEX_128 " " HEX_256, "a <secret> <secret>"},
        {"x" HEX_256, "x<secret>"},
        {"VG data is not active: 1 of its 2 PVs is missing.", NULL},
};

START_TEST(secret)
{
        _cleanup_scrubber_ struct scrubber scrubber = {};
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(scrubber_open(&scrubber, false), 0);
        /* Names stay. */
        ck_assert_int_eq(scrubber_add(&scrubber, "vg", "data"), 0);
        text = scrub(&scrubber, secrets[_i].text);
        ck_assert_pstr_eq(text, secrets[_i].expected ?: secrets[_i].text);
}
END_TEST

static const struct {
        const char *text, *expected;
} names[] = {
        {"VG acme is active", "VG vg1 is active"},
        {"acme", "vg1"},
        {"/dev/acme/mail /srv/customers ext4", "/dev/vg1/lv3 /srv/dir5 ext4"},
        {"/dev/mapper/acme-mail acme/mail", "/dev/mapper/vg1-lv3 vg1/lv3"},
        {"headgate-vg@acme.service dev-acme-mail.device", "headgate-vg@vg1.service dev-vg1-lv3.device"},
        /* Parts of words are other words. */
        {"acmes xacme acme_ _acme acme1", "acmes xacme acme_ _acme acme1"},
        /* One name is the beginning of another. */
        {"acme-east east-acme acme.east", "vg2 east-vg1 vg1.east"},
        {"/dev/mapper/acme--east-mail dev-acme\\x2deast-mail.device", "/dev/mapper/vg2-lv3 dev-vg2-lv3.device"},
        {"root home 7 7.5", "root home 7 7.5"},
        {"crypt-luks: nas:/export", "dm4: host6:/host7"},
        {"/dev/disk/by-id/ata-ACME_123-part1 by-id/ata-ACME_123-part1,x", "/dev/disk/by-id/id14 by-id/id14,x"},
        {"LABEL=\"My Disk\" LABEL=\"My Disk\" My Disk", "LABEL=\"id14 id15\" LABEL=\"id14 id15\" id14 id15"},
        {"LABEL=Acme LABEL=\"Acme\" UUID=1", "LABEL=id14 LABEL=\"id14\" UUID=1"},
        {"IDNAME=t10.ATA_ACME DEVNAME=/dev/sda", "IDNAME=id14 DEVNAME=/dev/sda"},
        {"password=acme acme", "password=<secret> vg1"},
        {"acme\nacme\n", "vg1\nvg1\n"},
        {"acm\u00e9 acm", "acm\u00e9 acm"},
        /* Of fstab, and of units. */
        {"/mnt/my\\040customers/acme ext4", "/mnt/my\\040dir5/vg1 ext4"},
        {"mnt-acme\\x20customers.mount", "mnt-vg1\\x20dir5.mount"},
        {"/dev/acme+west/mail dev-acme\\x2bwest-mail.device", "/dev/vg9/lv3 dev-vg9-lv3.device"},
        {"headgate-vg@acme\\x2bwest.service", "headgate-vg@vg9.service"},
        {"dev-mapper-acme\\x2bwest\\x2dmail.device dev-mapper-acme\\x2d\\x2deast\\x2dmail.swap",
                "dev-mapper-vg9\\x2dlv3.device dev-mapper-vg2\\x2dlv3.swap"},
        {"/srv/c++lib srv-c\\x2b\\x2blib.mount", "/srv/dir10 srv-dir10.mount"},
        {"/srv/tom's_stuff!old srv-tom\\x27s_stuff\\x21old.mount",
                "/srv/dir11'dir12!dir13 srv-dir11\\x27dir12\\x21dir13.mount"},
        {"/srv/m\u00fc-ller srv-m\\xc3\\xbc\\x2dller.mount /srv/m\\xc3\\xbc-ller",
                "/srv/dir8 srv-dir8.mount /srv/dir8"},
};

START_TEST(name)
{
        _cleanup_scrubber_ struct scrubber scrubber = {};
        _cleanup_free_ char *text = NULL, *again = NULL;

        ck_assert_int_eq(scrubber_open(&scrubber, true), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "vg", "acme"), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "vg", "acme-east"), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "lv", "mail"), 0);
        /* What is known already stays what it is, and what says nothing is left. */
        ck_assert_int_eq(scrubber_add(&scrubber, "lv", "acme"), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "lv", "root"), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "lv", "7"), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "dm", "crypt-luks"), 0);
        ck_assert_int_eq(scrubber_add_path(&scrubber, "dir", "/home/customers/"), 0);
        ck_assert_int_eq(scrubber_add_path(&scrubber, "host", "nas:/export"), 0);
        ck_assert_int_eq(scrubber_add_path(&scrubber, "dir", "/srv/m\u00fc-ller"), 0);
        ck_assert_int_eq(scrubber_add(&scrubber, "vg", "acme+west"), 0);
        ck_assert_int_eq(scrubber_add_path(&scrubber, "dir", "/srv/c++lib"), 0);
        ck_assert_int_eq(scrubber_add_path(&scrubber, "dir", "/srv/tom's_stuff!old"), 0);
        text = scrub(&scrubber, names[_i].text);
        ck_assert_pstr_eq(text, names[_i].expected);
        again = scrub(&scrubber, names[_i].text);
        ck_assert_pstr_eq(again, text);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("scrub");
        TCase *test_case = tcase_create("scrub");

        tcase_add_loop_test(test_case, secret, 0, ELEMENTSOF(secrets));
        tcase_add_loop_test(test_case, name, 0, ELEMENTSOF(names));
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
