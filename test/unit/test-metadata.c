/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lvm/metadata.h"

#include <check.h>
#include <fcntl.h>
#include <libdevmapper.h>

#include "fixture.h"
#include "images.h"
#include "inventory/vg-record.h"
#include "shared/util.h"

#define VG_ID "id = \"vvvvvv-vvvv-vvvv-vvvv-vvvv-vvvv-vvvvvv\"\n"
#define PV_ID "id = \"pppppp-pppp-pppp-pppp-pppp-pppp-pppppp\"\n"
#define LV_ID "id = \"llllll-llll-llll-llll-llll-llll-llllll\"\n"
#define PVS "physical_volumes {\npv0 {\n" PV_ID "}\n}\n"
#define END_OF_TEXT "contents = \"Text Format Volume Group\"\nversion = 1\n"

/* A VG with `more` in its section. */
#define VG(more) "vg {\n" VG_ID "seqno = 1\n" PVS more "}\n" END_OF_TEXT
/* A VG with one LV with `more` in its section. */
#define LV(more) VG("logical_volumes {\nlv {\n" LV_ID more "}\n}\n")

static struct vg *parse(const char *text)
{
        struct vg *metadata = NULL;
        const char *reason = "unset";
        int r = metadata_parse(text, &metadata, &reason);

        ck_assert_msg(r == 0, "%s: %s", reason ? reason : strerror(-r), text);
        ck_assert_ptr_null(reason);
        ck_assert_ptr_nonnull(metadata);
        return metadata;
}

/* Returns whether the text was taken; nothing but success and -EBADMSG is an answer to a text. */
static bool accepts(const char *text)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        const char *reason = "unset";
        int r = metadata_parse(text, &metadata, &reason);

        ck_assert(r == 0 || r == -EBADMSG);
        ck_assert_int_eq(r == 0, metadata != NULL);
        ck_assert_int_eq(r == 0, reason == NULL);
        return r == 0;
}

static struct vg *parse_image(const char *name)
{
        _cleanup_free_ char *text = image_read_text(name);

        return parse(text);
}

static bool has_pv(const struct vg *metadata, const char *pvid)
{
        for (size_t i = 0; i < metadata->n_pvs; i++)
                if (streq(metadata->pvs[i].pvid, pvid))
                        return true;

        return false;
}

static const struct vg_lv *find_lv(const struct vg *metadata, const char *name)
{
        for (size_t i = 0; i < metadata->n_lvs; i++)
                if (streq(metadata->lvs[i].name, name))
                        return &metadata->lvs[i];

        return NULL;
}

/* Name, seqno and the PV itself, in pvck's words. */
START_TEST(every_image_as_pvck_reads_it)
{
        _cleanup_images_ struct image_list list = images_list();
        size_t n = 0;

        for (size_t i = 0; i < list.n; i++) {
                _cleanup_free_ char *text = image_read(list.names[i], "metadata");
                _cleanup_free_ char *headers = image_read(list.names[i], "headers");
                _cleanup_free_ char *pvid = headers_find(headers, "pv_header.pv_uuid");
                _cleanup_free_ char *name = NULL, *guess = NULL;
                _cleanup_vg_ struct vg *metadata = NULL;
                uint64_t seqno;

                if (!text)
                        continue;

                n++;
                metadata = parse(text);
                ck_assert_int_eq(sscanf(strstr(headers, "# vgname "), "# vgname %ms seqno %lu", &name, &seqno), 2);
                ck_assert_str_eq(metadata->name, name);
                ck_assert_uint_eq(metadata->seqno, seqno);
                ck_assert(has_pv(metadata, pvid));
                ck_assert_int_eq(metadata_guess_name(text, &guess), 0);
                ck_assert_str_eq(guess, name);
        }
        ck_assert_uint_gt(n, 20);
}
END_TEST

START_TEST(all_pvs_of_many)
{
        _cleanup_vg_ struct vg *metadata = parse_image("many-350");

        ck_assert_uint_eq(metadata->n_pvs, 350);
        for (unsigned int i = 1; i <= 350; i++) {
                _cleanup_free_ char *name = NULL, *headers = NULL, *pvid = NULL;

                ck_assert_int_gt(asprintf(&name, "many-%u", i), 0);
                headers = image_read(name, "headers");
                pvid = headers_find(headers, "pv_header.pv_uuid");
                ck_assert(has_pv(metadata, pvid));
        }
}
END_TEST

START_TEST(plain_vg)
{
        _cleanup_vg_ struct vg *metadata = parse_image("plain-1");

        ck_assert_str_eq(metadata->name, "plain");
        ck_assert(lvm_id_is_valid(metadata->vgid));
        ck_assert_ptr_null(metadata->system_id);
        ck_assert_ptr_null(metadata->lock_type);
        ck_assert(!metadata->exported && !metadata->clustered && !metadata->autoactivation_off && !metadata->slow);

        ck_assert_uint_eq(metadata->n_pvs, 2);
        for (size_t i = 0; i < metadata->n_pvs; i++) {
                ck_assert_int_eq(strncmp(metadata->pvs[i].device_name, "/dev/", 5), 0);
                ck_assert(!metadata->pvs[i].flagged);
        }

        ck_assert_uint_eq(metadata->n_lvs, 5);
        ck_assert(find_lv(metadata, "linear")->autoactivated);
        ck_assert(find_lv(metadata, "striped")->autoactivated);
        ck_assert(find_lv(metadata, "tagged")->autoactivated);
        ck_assert(!find_lv(metadata, "skipped")->autoactivated);
        ck_assert(!find_lv(metadata, "noauto")->autoactivated);
        ck_assert(lvm_id_is_valid(find_lv(metadata, "linear")->lvid));
        ck_assert_str_ne(find_lv(metadata, "linear")->lvid, find_lv(metadata, "striped")->lvid);
}
END_TEST

START_TEST(vg_properties)
{
        _cleanup_vg_ struct vg *exported = parse_image("exported-1"), *system_id = parse_image("systemid-1"),
                               *shared = parse_image("shared-1"), *clustered = parse_image("clustered-1"),
                               *noauto = parse_image("noauto-1"), *missing = parse_image("missing-1");

        ck_assert(exported->exported && !noauto->exported);
        ck_assert_str_eq(system_id->system_id, "elsewhere");
        ck_assert_str_eq(shared->lock_type, "sanlock");
        ck_assert_ptr_null(clustered->lock_type);
        ck_assert(clustered->clustered && !shared->clustered);
        ck_assert(noauto->autoactivation_off && !exported->autoactivation_off);

        ck_assert_uint_eq(missing->n_pvs, 2);
        ck_assert_uint_eq(missing->pvs[0].flagged + missing->pvs[1].flagged, 1);
        for (size_t i = 0; i < 2; i++)
                ck_assert_int_eq(missing->pvs[i].flagged, missing->pvs[i].device_name == NULL);
}
END_TEST

START_TEST(names)
{
        _cleanup_vg_ struct vg *dots = parse_image("names-1"), *hyphens = parse_image("hyphens-1"),
                               *long_vg = parse_image("longvg-1"), *long_lv = parse_image("longlv-1");

        ck_assert_str_eq(dots->name, "a.b+c_d");
        ck_assert_ptr_nonnull(find_lv(dots, "a-b"));
        ck_assert_str_eq(hyphens->name, "a-b--c");
        ck_assert_ptr_nonnull(find_lv(hyphens, "1+.2"));
        ck_assert_uint_eq(strlen(long_vg->name), 127);
        ck_assert_uint_eq(long_lv->n_lvs, 1);
        ck_assert_uint_eq(strlen(long_lv->lvs[0].name), 114);
}
END_TEST

START_TEST(visible_lvs)
{
        static const char *const visible[] = {"linear", "pool", "thin", "raid", "mirror", "cow", "cached"};
        _cleanup_vg_ struct vg *metadata = parse_image("types-1");

        ck_assert(metadata->slow);
        ck_assert_uint_eq(metadata->n_lvs, ELEMENTSOF(visible));
        for (size_t i = 0; i < ELEMENTSOF(visible); i++)
                ck_assert_ptr_nonnull(find_lv(metadata, visible[i]));
}
END_TEST

static bool is_slow(const char *type)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        _cleanup_free_ char *text = NULL;

        ck_assert_int_gt(
                asprintf(&text, LV("segment1 {\ntype = \"striped\"\n}\nsegment2 {\ntype = \"%s\"\n}\n"), type), 0);
        metadata = parse(text);
        ck_assert_uint_eq(metadata->n_lvs, 0);
        return metadata->slow;
}

/* lvm2 activates them, so they are no reason to leave a VG alone; but nothing is to be made of their names. */
START_TEST(lvs_with_names_that_lvm2_does_not_make)
{
        static const struct {
                const char *key, *shown;
        } cases[] = {
                {"lv", "lv"},
                {"l:v", "l\\x3av"},
                {"--all", "--all"},
                {"..", ".."},
                {"\"$(touch caught)\"", "\\x24\\x28touch\\x20caught\\x29"},
                {"\"a\n<3>all is lost\"", "a\\x0a\\x3c3\\x3eall\\x20is\\x20lost"},
                {"\"\x1b]0;\x07\\\\\\\"\"", "\\x1b\\x5d0\\x3b\\x07\\x5c\\x22"},
                {"\"\xc3\xbc\xff\"", "\\xc3\\xbc\\xff"},
        };
        char key[201], shown[201];

        for (size_t i = 0; i <= ELEMENTSOF(cases); i++) {
                _cleanup_vg_ struct vg *metadata = NULL, *read = NULL;
                _cleanup_free_ char *text = NULL, *path = NULL, *saved = NULL;
                const char *reason;

                if (i < ELEMENTSOF(cases)) {
                        snprintf(key, sizeof(key), "%s", cases[i].key);
                        snprintf(shown, sizeof(shown), "%s", cases[i].shown);
                } else {
                        snprintf(key, sizeof(key), "%0200d", 0);
                        snprintf(shown, sizeof(shown), "%0127d...", 0);
                }
                text = string_format(VG("logical_volumes {\n%s {\n" LV_ID "status = \"VISIBLE\"\n}\n}\n"), key);
                ck_assert_ptr_nonnull(text);
                ck_assert_msg(metadata_parse(text, &metadata, &reason) == 0, "%s: %s", key, reason);
                ck_assert_str_eq(metadata->lvs[0].name, shown);

                /* What a worker leaves behind, the next one reads. */
                ck_assert_int_eq(vg_print(metadata, &saved), 0);
                ck_assert_int_eq(vg_parse(saved, &read), 0);
                ck_assert_str_eq(read->lvs[0].name, shown);
        }
}
END_TEST

START_TEST(slow_types)
{
        static const char *const slow[] = {"thin-pool", "thin", "cache", "cache-pool", "writecache", "vdo",
                "vdo-pool", "mirror", "snapshot", "raid0", "raid1", "raid5_ls", "raid10", "raid6_zr",
                "thin-pool+METADATA_FORMAT", "cache+CACHE_USES_CACHEVOL", "raid5+RESHAPE"};
        static const char *const quick[] = {
                "striped", "linear", "zero", "error", "thi", "thinner", "", "+thin", "striped+thin", "mirrored"};

        for (size_t i = 0; i < ELEMENTSOF(slow); i++)
                ck_assert_msg(is_slow(slow[i]), "%s", slow[i]);
        for (size_t i = 0; i < ELEMENTSOF(quick); i++)
                ck_assert_msg(!is_slow(quick[i]), "%s", quick[i]);
}
END_TEST

START_TEST(flags_of_lvs)
{
        static const struct {
                const char *text;
                bool visible, autoactivated;
        } cases[] = {
                {LV(""), false, false},
                {LV("status = []\nflags = []\n"), false, false},
                {LV("status = \"VISIBLE\"\n"), true, true},
                {LV("status = [\"VISIBLE\"]\n"), true, true},
                {LV("flags = [\"READ\", \"VISIBLE\"]\n"), true, true},
                {LV("status = [1, 2.5, [\"VISIBLE\"]\n"), false, false},
                {LV("status = [1, 2.5, \"VISIBLE\"]\n"), true, true},
                {LV("status = 1\n"), false, false},
                {LV("status {\nVISIBLE = 1\n}\n"), false, false},
                {LV("status = [\"VISIBLE\"]\nflags = [\"ACTIVATION_SKIP\"]\n"), true, false},
                {LV("status = [\"VISIBLE\"]\nflags = \"NOAUTOACTIVATE\"\n"), true, false},
                {LV("status = \"VISIBLE\"\nsegment1 {\ntype = \"vdo-pool\"\n}\n"), true, false},
                {LV("status = \"VISIBLE\"\nsegment1 {\ntype = \"vdo\"\n}\n"), true, true},
                {LV("status = \"VISIBLE\"\nsegment1 {\ntype = \"cache-pool\"\n}\n"), true, false},
                {LV("status = \"VISIBLE\"\nsegment1 {\ntype = \"snapshot\"\n}\n"), false, false},
                {LV("status = [\"NOAUTOACTIVATE\", \"VISIBLE\"]\nflags = []\n"), true, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_vg_ struct vg *metadata = NULL;

                /* Here the array has no end. */
                if (strstr(cases[i].text, ", [")) {
                        ck_assert(!accepts(cases[i].text));
                        continue;
                }
                metadata = parse(cases[i].text);
                ck_assert_uint_eq(metadata->n_lvs, cases[i].visible);
                if (metadata->n_lvs == 1)
                        ck_assert_int_eq(metadata->lvs[0].autoactivated, cases[i].autoactivated);
        }
}
END_TEST

/* The snapshot is an LV, though not marked as visible, and the section that makes it one is none. It goes with its origin. */
START_TEST(snapshots_are_lvs)
{
        static const char format[] =
                VG("logical_volumes {\n"
                   "data {\n" LV_ID "status = \"VISIBLE\"\nflags = [%s]\n}\n"
                   "monday {\n" LV_ID "status = []\n}\n"
                   "merging {\n" LV_ID "status = []\n}\n"
                   "snapshot0 {\n" LV_ID "status = \"VISIBLE\"\nsegment1 {\ntype = \"snapshot\"\n"
                   "origin = \"data\"\ncow_store = \"monday\"\n}\n}\n"
                   "snapshot1 {\n" LV_ID "status = \"VISIBLE\"\nsegment1 {\ntype = \"snapshot\"\n"
                   "origin = \"data\"\nmerging_store = \"merging\"\n}\n}\n}\n");
        static const char *const flags[] = {"", "\"NOAUTOACTIVATE\"", "\"ACTIVATION_SKIP\""};

        for (size_t i = 0; i < ELEMENTSOF(flags); i++) {
                _cleanup_free_ char *text = string_format(format, flags[i]);
                _cleanup_vg_ struct vg *metadata = parse(text);

                ck_assert_uint_eq(metadata->n_lvs, 2);
                ck_assert(metadata->slow);
                ck_assert_ptr_nonnull(vg_find_lv(metadata, "data"));
                ck_assert_ptr_nonnull(vg_find_lv(metadata, "monday"));
                for (size_t j = 0; j < 2; j++)
                        ck_assert_int_eq(metadata->lvs[j].autoactivated, i == 0);
        }
}
END_TEST

START_TEST(strings_of_the_vg)
{
        _cleanup_vg_ struct vg *none = parse(VG("lock_type = \"none\"\nsystem_id = \"\"\n")),
                               *numbers = parse(VG("lock_type = 1\nsystem_id = 1\n")),
                               *strings = parse(VG("lock_type = \"dlm\"\nsystem_id = \"a\\\"b\"\n")),
                               *single = parse(VG("status = \"EXPORTED\"\nflags = \"NOAUTOACTIVATE\"\n"));

        ck_assert_ptr_null(none->lock_type);
        ck_assert_ptr_null(none->system_id);
        ck_assert_ptr_null(numbers->lock_type);
        ck_assert_ptr_null(numbers->system_id);
        ck_assert_str_eq(strings->lock_type, "dlm");
        ck_assert_str_eq(strings->system_id, "a\"b");
        ck_assert(single->exported && single->autoactivation_off);
        ck_assert(!accepts(VG("system_id = \"a\nb\"\n")));
        ck_assert(!accepts(VG("lock_type = \"a\033[2Jb\"\n")));
}
END_TEST

/* Of the types that lvm2 has had only these have a lock manager. */
START_TEST(lock_types)
{
        static const struct {
                const char *text;
                bool skipped;
        } cases[] = {
                {VG("lock_type = \"dlm\"\n"), true},
                {VG("lock_type = \"sanlock\"\n"), true},
                {VG("lock_type = \"idm\"\n"), true},
                {VG("lock_type = \"none\"\n"), false},
                {VG("lock_type = \"clvm\"\n"), false},
                {VG("lock_type = \"of tomorrow\"\n"), false},
                {VG(""), false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_vg_ struct vg *metadata = parse(cases[i].text);

                ck_assert_int_eq(metadata->skip_reason != NULL, cases[i].skipped);
        }
}
END_TEST

START_TEST(not_a_vg)
{
        static const char *const texts[] = {
                "",
                " ",
                "\n",
                "{",
                "}",
                "\"",
                "'",
                "[",
                "=",
                "#",
                "vg",
                "vg {",
                "vg {}",
                "vg = 1",
                END_OF_TEXT,
                /* one thing is missing, or wrong, or there twice */
                "vg {\n" VG_ID "seqno = 1\n" PVS "}\nversion = 1\n",
                "vg {\n" VG_ID "seqno = 1\n" PVS "}\ncontents = \"Text Format Volume Group\"\n",
                "vg {\n" VG_ID "seqno = 1\n" PVS "}\ncontents = \"Text Format Volume Group\"\nversion = 2\n",
                "vg {\n" VG_ID "seqno = 1\n" PVS "}\ncontents = \"Something else\"\nversion = 1\n",
                "vg {\n" VG_ID "seqno = 1\n" PVS "}\nvg2 {\n" VG_ID "seqno = 1\n" PVS "}\n" END_OF_TEXT,
                "vg {\nseqno = 1\n" PVS "}\n" END_OF_TEXT,
                "vg {\nid = 1\nseqno = 1\n" PVS "}\n" END_OF_TEXT,
                "vg {\nid = \"vvvvvv\"\nseqno = 1\n" PVS "}\n" END_OF_TEXT,
                "vg {\n" VG_ID PVS "}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = \"1\"\n" PVS "}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = -1\n" PVS "}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = 99999999999999999999\n" PVS "}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = 1\n}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = 1\nphysical_volumes {\n}\n}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = 1\nphysical_volumes = 1\n}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = 1\nphysical_volumes {\npv0 = 1\n}\n}\n" END_OF_TEXT,
                "vg {\n" VG_ID "seqno = 1\nphysical_volumes {\npv0 {\n}\n}\n}\n" END_OF_TEXT,
                "-vg {\n" VG_ID "seqno = 1\n" PVS "}\n" END_OF_TEXT,
                ".. {\n" VG_ID "seqno = 1\n" PVS "}\n" END_OF_TEXT,
                "v:g {\n" VG_ID "seqno = 1\n" PVS "}\n" END_OF_TEXT,
                "a/b {\n" VG_ID "seqno = 1\n" PVS "}\n" END_OF_TEXT,
                "/ {\n" VG_ID "seqno = 1\n" PVS "}\n" END_OF_TEXT,
                VG("logical_volumes {\nlv {\nstatus = \"VISIBLE\"\n}\n}\n"),
        };

        ck_assert(accepts(VG("")));
        ck_assert(accepts(LV("status = \"VISIBLE\"\n")));
        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                ck_assert_msg(!accepts(texts[i]), "%s", texts[i]);
}
END_TEST

/* The end of the text tells what it is, so no part of it but its comments can be missed. */
START_TEST(truncated_text)
{
        _cleanup_free_ char *text = image_read_text("types-1");
        size_t enough = (size_t) (strstr(text, "version = 1") + strlen("version = 1") - text);
        size_t description = (size_t) (strstr(text, "description") - text);

        for (size_t i = 0; i < strlen(text); i++) {
                _cleanup_free_ char *part = strndup(text, i);

                if (i < enough)
                        ck_assert(!accepts(part));
                else if (i <= description)
                        ck_assert(accepts(part));
                else
                        (void) accepts(part);
        }
}
END_TEST

START_TEST(mutated_text)
{
        static const char values[] = {'\0', '{', '}', '"', '\'', '[', '=', '#', '/', '0', '\n', (char) 0xff};
        _cleanup_free_ char *text = image_read_text("plain-1");
        size_t n_accepted = 0, n_refused = 0;

        for (size_t i = 0; text[i]; i++) {
                char before = text[i];

                for (size_t j = 0; j < ELEMENTSOF(values); j++) {
                        text[i] = values[j];
                        if (accepts(text))
                                n_accepted++;
                        else
                                n_refused++;
                }
                text[i] = before;
        }
        ck_assert_uint_gt(n_accepted, 0);
        ck_assert_uint_gt(n_refused, 0);
        ck_assert(accepts(text));
}
END_TEST

static char *repeat(const char *unit, size_t n)
{
        size_t length = strlen(unit);
        char *text = malloc(n * length + 1);

        ck_assert_ptr_nonnull(text);
        for (size_t i = 0; i < n; i++)
                memcpy(text + i * length, unit, length);
        text[n * length] = '\0';
        return text;
}

/* Sections in sections would take the parser's stack. */
START_TEST(deep_nesting)
{
        static const char *const units[] = {"a{", "a {\n", "a\"{", "a'{", "\"a\"{", "'a\"'{", "a=1 a{"};

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                _cleanup_free_ char *text = repeat(units[i], 1000000);

                ck_assert_msg(!accepts(text), "%s", units[i]);
        }
}
END_TEST

/* What looks deep but is not. */
START_TEST(shallow_nesting)
{
        _cleanup_free_ char *braces = repeat("{", 100), *siblings = repeat("a {\n}\n", 1000), *text = NULL;

        ck_assert_int_gt(
                asprintf(&text, "# %s\n" VG("tags = [\"%s\", '%s']\n%s") "description = \"\\\"%s\"\nn = 1.5\n",
                        braces, braces, braces, siblings, braces),
                0);
        ck_assert(accepts(text));
}
END_TEST

/* A text with so many PVs and visible LVs. */
/* Each PV was last seen at `hint`, each LV's name ends with `suffix`. */
static char *make_larger(unsigned int n_pvs, unsigned int n_lvs, const char *hint, const char *suffix)
{
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        ck_assert_ptr_nonnull(file);
        fputs("vg {\n" VG_ID "seqno = 1\nphysical_volumes {\n", file);
        for (unsigned int i = 0; i < n_pvs; i++)
                fprintf(file, "pv%u {\nid = \"pppppp-pppp-pppp-pppp-pppp-pppp-%06u\"\ndevice = \"%s\"\n}\n", i, i,
                        hint);
        fputs("}\nlogical_volumes {\n", file);
        for (unsigned int i = 0; i < n_lvs; i++)
                fprintf(file,
                        "lv%06u%s {\nid = \"llllll-llll-llll-llll-llll-llll-%06u\"\nstatus = [\"VISIBLE\"]\n}\n",
                        i, suffix, i);
        fputs("}\n}\n" END_OF_TEXT, file);
        ck_assert_int_eq(fclose(file), 0);
        return text;
}

static char *make_large(unsigned int n_pvs, unsigned int n_lvs)
{
        return make_larger(n_pvs, n_lvs, "/dev/sda", "");
}

START_TEST(long_device_names_are_ignored)
{
        _cleanup_free_ char *longest = repeat("/", METADATA_DEVICE_HINT_MAX),
                            *longer = repeat("/", METADATA_DEVICE_HINT_MAX + 1),
                            *text = make_larger(1, 1, longest, ""), *longer_text = make_larger(1, 1, longer, "");
        _cleanup_vg_ struct vg *metadata = parse(text), *without = parse(longer_text);

        ck_assert_str_eq(metadata->pvs[0].device_name, longest);
        ck_assert_ptr_null(without->pvs[0].device_name);
}
END_TEST

/* Whatever stands on a disk, the next worker can read what this one writes. */
START_TEST(largest_file_can_be_read)
{
        _cleanup_free_ char *hint = repeat("/", METADATA_DEVICE_HINT_MAX),
                            *suffix = repeat("x", METADATA_NAMES_SIZE_MAX / METADATA_LVS_MAX - strlen("lv000000")),
                            *longer = repeat("x", METADATA_NAMES_SIZE_MAX / METADATA_LVS_MAX),
                            *text = make_larger(METADATA_PVS_MAX, METADATA_LVS_MAX, hint, suffix),
                            *longer_text = make_larger(1, METADATA_LVS_MAX, "", longer), *record = NULL;
        _cleanup_vg_ struct vg *metadata = parse(text), *loaded = NULL;

        ck_assert(!accepts(longer_text));
        ck_assert_int_eq(vg_print(metadata, &record), 0);
        ck_assert_int_eq(vg_parse(record, &loaded), 0);
        ck_assert_uint_eq(loaded->n_pvs, METADATA_PVS_MAX);
        ck_assert_uint_eq(loaded->n_lvs, METADATA_LVS_MAX);
}
END_TEST

START_TEST(size_is_bounded)
{
        static const struct {
                unsigned int n_pvs, n_lvs;
                bool accepted;
        } cases[] = {
                {METADATA_PVS_MAX, 1, true},
                {METADATA_PVS_MAX + 1, 1, false},
                {1, METADATA_LVS_MAX, true},
                {1, METADATA_LVS_MAX + 1, false},
                {900000, 1, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = make_large(cases[i].n_pvs, cases[i].n_lvs);

                ck_assert_msg(
                        accepts(text) == cases[i].accepted, "%u PVs, %u LVs", cases[i].n_pvs, cases[i].n_lvs);
        }
}
END_TEST

/* Each step of it, as the worker does them between two turns of its event loop. */
START_TEST(large_metadata_is_taken_over_in_time)
{
        _cleanup_free_ char *text = make_large(16000, 20000);
        _cleanup_vg_ struct vg *vg = NULL, *newer = NULL;
        uint64_t begin = now_usec();

        vg = parse(text);
        newer = parse(text);
        ck_assert_int_eq(vg_update(vg, newer), 0);
        for (size_t i = 0; i < newer->n_pvs; i++)
                ck_assert_ptr_eq(vg_find_pv(vg, newer->pvs[i].pvid), &vg->pvs[i]);
        /* What grows with the square takes 10 s and more. */
        ck_assert_uint_lt(now_usec() - begin, 3 * USEC_PER_SEC);
}
END_TEST

START_TEST(guessed_names)
{
        static const struct {
                const char *text, *name;
        } cases[] = {
                {"vg {\n", "vg"},
                {"vg{", "vg"},
                {"1-._+ {", "1-._+"},
                {"", NULL},
                {"vg", NULL},
                {" {", NULL},
                {"{", NULL},
                {"-vg {", NULL},
                {". {", NULL},
                {".. {", NULL},
                {"v\ng {", NULL},
                {"v\x80g {", NULL},
                {"v\033g {", NULL},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *name = NULL;

                ck_assert_int_eq(metadata_guess_name(cases[i].text, &name), cases[i].name ? 0 : -ENOENT);
                if (cases[i].name)
                        ck_assert_str_eq(name, cases[i].name);
                else
                        ck_assert_ptr_null(name);
        }
}
END_TEST

START_TEST(valid_names)
{
        _cleanup_free_ char *longest = repeat("n", 127), *too_long = repeat("n", 128);

        ck_assert(vg_name_is_valid("a"));
        ck_assert(vg_name_is_valid("A.b+c_d-0"));
        ck_assert(vg_name_is_valid("..."));
        ck_assert(vg_name_is_valid(longest));
        ck_assert(!vg_name_is_valid(""));
        ck_assert(!vg_name_is_valid("."));
        ck_assert(!vg_name_is_valid(".."));
        ck_assert(!vg_name_is_valid("-a"));
        ck_assert(!vg_name_is_valid("a/b"));
        ck_assert(!vg_name_is_valid("a b"));
        ck_assert(!vg_name_is_valid(too_long));
}
END_TEST

/* libdevmapper says on standard error what it thinks of a text. */
static void write_archived(size_t row, const char *name, const char *text)
{
        _cleanup_free_ char *path = string_format("%zu/%s", row, name);

        write_file_and_directories(path, text);
}

/* What the archive has, newest last; what the backup has, and whether lvm2 has removed the VG. */
START_TEST(removed_vgs)
{
        static const char *const removed = "vgremove -ff -y vg", *const made = "lvcreate -n vgremove vg";
        const struct {
                const char *commands[2];
                const char *backup;
                bool removed;
        } rows[] = {
                {{}, NULL, false},
                {{made, removed}, NULL, true},
                {{made, "lvm vgremove vg"}, VG(""), true},
                {{made, "/sbin/vgremove vg"}, VG(""), true},
                {{removed, made}, VG(""), false},
                {{made, removed}, LV("status = [\"VISIBLE\"]\n"), false},
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_vg_ struct vg *vg = parse(VG(""));
                _cleanup_free_ char *directory = string_format("%s/%zu", run_directory(), i);

                if (rows[i].backup)
                        write_archived(i, "vg", rows[i].backup);
                /* Of other VGs, and of nothing. */
                write_archived(i, "vg_x_00099-1.vg", "");
                write_archived(i, "vg_99.vg", "");
                for (size_t j = 0; j < ELEMENTSOF(rows[i].commands) && rows[i].commands[j]; j++) {
                        _cleanup_free_ char *name = string_format("vg_%zu-12.vg", 9 + j);
                        _cleanup_free_ char *text = string_format(
                                "description = \"Created *before* executing '%s'\"\nvg {\n" VG_ID "}\n",
                                rows[i].commands[j]);

                        write_archived(i, name, text);
                }
                ck_assert_msg(backup_tells_removal(directory, directory, vg) == rows[i].removed, "row %zu", i);
        }
}
END_TEST

/* Names may begin with a dot, unlike those of most files that count. */
START_TEST(removed_vg_with_a_dot)
{
        static const char text[] =
                "description = \"Created *before* executing 'vgremove .vg'\"\n.vg {\n" VG_ID "}\n";
        _cleanup_vg_ struct vg *vg = parse(VG(""));
        _cleanup_free_ char *directory = string_format("%s/0", run_directory());

        ck_assert_int_eq(string_replace(&vg->name, strdup(".vg")), 0);
        write_archived(0, ".vg_00010-12.vg", text);
        ck_assert_int_eq(backup_tells_removal(directory, directory, vg), 1);
}
END_TEST

static void log_nothing(int level, const char *file, int line, int dm_errno, const char *format, ...)
{
        (void) level, (void) file, (void) line, (void) dm_errno, (void) format;
}

int main(void)
{
        Suite *suite = suite_create("metadata");
        TCase *tests = tcase_create("metadata");

        dm_log_with_errno_init(log_nothing);

        tcase_set_timeout(tests, 120);
        tcase_add_test(tests, every_image_as_pvck_reads_it);
        tcase_add_test(tests, all_pvs_of_many);
        tcase_add_test(tests, plain_vg);
        tcase_add_test(tests, vg_properties);
        tcase_add_test(tests, names);
        tcase_add_test(tests, visible_lvs);
        tcase_add_test(tests, lvs_with_names_that_lvm2_does_not_make);
        tcase_add_test(tests, slow_types);
        tcase_add_test(tests, flags_of_lvs);
        tcase_add_test(tests, snapshots_are_lvs);
        tcase_add_test(tests, strings_of_the_vg);
        tcase_add_test(tests, lock_types);
        tcase_add_test(tests, not_a_vg);
        tcase_add_test(tests, truncated_text);
        tcase_add_test(tests, mutated_text);
        tcase_add_test(tests, deep_nesting);
        tcase_add_test(tests, shallow_nesting);
        tcase_add_checked_fixture(tests, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(tests, removed_vgs);
        tcase_add_test(tests, removed_vg_with_a_dot);
        tcase_add_test(tests, long_device_names_are_ignored);
        tcase_add_test(tests, largest_file_can_be_read);
        tcase_add_test(tests, size_is_bounded);
        tcase_add_test(tests, large_metadata_is_taken_over_in_time);
        tcase_add_test(tests, guessed_names);
        tcase_add_test(tests, valid_names);
        suite_add_tcase(suite, tests);
        return run_suite(suite);
}
