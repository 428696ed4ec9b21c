/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-dmsetup.static: does what the udev rules of device-mapper and lvm2 call dmsetup for at each event, without dmsetup's
 * start-up. It takes only arguments as lvm2 and the kernel give them; all others are an error, and the rules then call dmsetup
 * itself. It uses no libraries, see dmsetup-system.h, and so no headers of src/shared. */

#include <stdbool.h>
#include <stdint.h>

#include "fast-rules/dmsetup-system.h"

/* As dmsetup's. */
#define SUCCESS 0
#define FAILURE 1

/* DM_NAME_LEN of linux/dm-ioctl.h, with the NUL. */
#define NAME_SIZE 128

/* Parts of the key of a semaphore and of a cookie: DM_COOKIE_MAGIC and DM_UDEV_FLAGS_SHIFT of libdevmapper.h. */
#define COOKIE_MAGIC 0x0D4D
#define COOKIE_FLAGS_SHIFT 16
#define COOKIE_BASE_MASK 0xffff

#define LITERAL(text) (text), sizeof(text) - 1

static const char usage[] =
        "Usage: headgate-dmsetup.static splitname NAME|udevcomplete COOKIE\n\n"
        "Split the name of an LV, or tell who waits for an event of device-mapper that it has been handled. Called by\n"
        "udev, in the place of dmsetup.\n\n"
        "  -h, --help     Show this help\n"
        "      --version  Show the version\n\n"
        "See headgate-fast-dm-rules(8).\n";

static bool equal(const char *a, const char *b)
{
        while (*a && *a == *b) {
                a++;
                b++;
        }
        return *a == *b;
}

/* udev reads from a pipe, which takes so little at once. */
static int print(int fd, const char *text, size_t size)
{
        return system_write(fd, text, size) == (long) size ? SUCCESS : FAILURE;
}

/* The message is for people: udev only logs that the program has failed. */
static int fail(const char *message, size_t size)
{
        (void) print(2, message, size);
        return FAILURE;
}

/* ------ splitname ------ */

struct text {
        char bytes[NAME_SIZE + sizeof("DM_VG_NAME=''\nDM_LV_NAME=''\nDM_LV_LAYER=''\n")];
        size_t size;
};

static void append(struct text *text, const char *string)
{
        while (*string)
                text->bytes[text->size++] = *string++;
}

/* The characters that lvm2 allows in names of VGs and LVs (lvm(8)), none of which is special to a shell, udev or dmsetup. An
 * option is no name. */
static bool is_name(const char *name)
{
        size_t length = 0;

        if (*name == '-')
                return false;
        for (; name[length]; length++) {
                char c = name[length];

                if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
                            c == '_' || c == '.' || c == '-') ||
                        length + 1 >= NAME_SIZE)
                        return false;
        }
        return length > 0;
}

/* Appends up to the next single hyphen; two hyphens are one of the name itself. Returns the rest. As in dmsetup, a hyphen at
 * the very end belongs to the name. */
static const char *append_component(struct text *text, const char *name)
{
        for (; *name; name++) {
                if (name[0] == '-' && name[1] == '-')
                        name++;
                else if (name[0] == '-' && name[1] != '\0')
                        return name + 1;
                text->bytes[text->size++] = *name;
        }
        return name;
}

/* As dmsetup splitname --nameprefixes --noheadings --rows NAME prints it. */
static int split_name(const char *name)
{
        struct text text;

        if (!is_name(name))
                return fail(LITERAL("headgate-dmsetup.static: this is no name that lvm2 gives\n"));

        text.size = 0;
        append(&text, "DM_VG_NAME='");
        name = append_component(&text, name);
        append(&text, "'\nDM_LV_NAME='");
        name = append_component(&text, name);
        append(&text, "'\nDM_LV_LAYER='");
        (void) append_component(&text, name);
        append(&text, "'\n");
        return print(1, text.bytes, text.size);
}

/* ------ udevcomplete ------ */

/* As the kernel writes it into DM_COOKIE: decimal, not 0, without zeros before it. */
static bool read_cookie(const char *string, uint32_t *ret)
{
        uint64_t value = 0;

        if (*string == '0' || !*string)
                return false;
        for (; *string; string++) {
                if (*string < '0' || *string > '9')
                        return false;
                value = value * 10 + (uint64_t) (*string - '0');
                if (value > UINT32_MAX)
                        return false;
        }
        *ret = (uint32_t) value;
        return true;
}

/* Decrements the semaphore of the cookie. lvm2 waits until it is 0. */
static int complete(const char *string)
{
        /* If all events were completed before, fails rather than waits. */
        struct sembuf decrement = {.sem_num = 0, .sem_op = -1, .sem_flg = IPC_NOWAIT};
        uint32_t cookie;
        long id;

        if (!read_cookie(string, &cookie))
                return fail(LITERAL("headgate-dmsetup.static: this is no cookie that the kernel gives\n"));
        /* A cookie without a base has only flags, and no semaphore. */
        if ((cookie & COOKIE_BASE_MASK) == 0)
                return SUCCESS;

        id = system_semget((int) ((uint32_t) COOKIE_MAGIC << COOKIE_FLAGS_SHIFT | (cookie & COOKIE_BASE_MASK)));
        if (id < 0)
                return fail(LITERAL("headgate-dmsetup.static: nobody waits for this cookie any more\n"));
        if (system_semop((int) id, &decrement) < 0)
                return fail(LITERAL("headgate-dmsetup.static: the semaphore cannot be decremented\n"));
        return SUCCESS;
}

int run(int argc, char *argv[])
{
        if (argc == 3 && equal(argv[1], "splitname"))
                return split_name(argv[2]);
        if (argc == 3 && equal(argv[1], "udevcomplete"))
                return complete(argv[2]);
        if (argc == 2 && (equal(argv[1], "--help") || equal(argv[1], "-h")))
                return print(1, LITERAL(usage));
        if (argc == 2 && equal(argv[1], "--version"))
                return print(1, LITERAL("headgate " HEADGATE_VERSION "\n"));
        return fail(
                LITERAL("headgate-dmsetup.static: expected splitname NAME or udevcomplete COOKIE, see --help\n"));
}
