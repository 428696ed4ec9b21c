/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "shared/log.h"
#include "shared/util.h"

static char root_path[4096];
static int root_fd = -EBADF;

void fuzz_fail(const char *condition, const char *file, int line)
{
        fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
        abort();
}

/* ------ work ------ */

/* How much memory reading an input may allocate in all, also if it is freed soon: what fits what is there, several times
 * over, and no square of it. */
#define ALLOCATED_MAX (2UL << 20)
#define ALLOCATED_PER_BYTE_MAX 512UL

/* There where a sanitizer is. */
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
        void (*on_malloc)(const volatile void *, size_t), void (*on_free)(const volatile void *));

static size_t allocated;

static void on_malloc(_unused_ const volatile void *memory, size_t size)
{
        allocated += size;
}

static void on_free(_unused_ const volatile void *memory)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static bool is_prepared;
        int r;

        if (!is_prepared && __sanitizer_install_malloc_and_free_hooks)
                (void) __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
        is_prepared = true;
        allocated = 0;
        r = fuzz_one(data, size);
        fuzz_check(allocated <= ALLOCATED_MAX + size * ALLOCATED_PER_BYTE_MAX);
        return r;
}

/* ------ files ------ */

static int remove_one(
        const char *path, _unused_ const struct stat *status, _unused_ int type, _unused_ struct FTW *ftw)
{
        return remove(path);
}

static void remove_root(void)
{
        (void) nftw(root_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int fuzz_root(void)
{
        _cleanup_free_ char *lvm_path = NULL;

        if (root_fd >= 0)
                return root_fd;
        snprintf(root_path, sizeof(root_path), "%s/headgate-fuzz-XXXXXX", getenv("TMPDIR") ?: "/tmp");
        fuzz_check(mkdtemp(root_path));
        atexit(remove_root);
        lvm_path = string_format("%s/lvm", root_path);
        fuzz_check(lvm_path);
        fuzz_check(setenv("HEADGATE_RUN_DIRECTORY", root_path, true) == 0);
        fuzz_check(setenv("HEADGATE_LVM_RUN_DIRECTORY", lvm_path, true) == 0);
        fuzz_check(setenv("HEADGATE_LOG_LEVEL", "0", true) == 0);
        log_open("fuzz", LOG_TARGET_STDERR);
        root_fd = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fuzz_check(root_fd >= 0);
        return root_fd;
}

static void make_directories(const char *path)
{
        _cleanup_free_ char *directory = strdup(path);

        fuzz_check(directory);
        for (char *slash = directory; (slash = strchr(slash, '/')); *slash++ = '/') {
                *slash = '\0';
                fuzz_check(mkdirat(fuzz_root(), directory, 0700) == 0 || errno == EEXIST);
        }
}

void fuzz_write(const char *path, const void *data, size_t size)
{
        _cleanup_close_ int fd = openat(fuzz_root(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0) {
                make_directories(path);
                fd = openat(fuzz_root(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        }
        fuzz_check(fd >= 0);
        fuzz_check(write_all(fd, data, size) == 0);
}

void fuzz_empty(const char *directory)
{
        _cleanup_closedir_ DIR *dir = open_directory_at(fuzz_root(), directory);

        for (const struct dirent *entry; dir && (entry = readdir(dir));)
                if (!streq(entry->d_name, ".") && !streq(entry->d_name, ".."))
                        fuzz_check(unlinkat(dirfd(dir), entry->d_name, 0) == 0);
}

char *fuzz_text(const uint8_t *data, size_t size)
{
        char *text = malloc(size + 1);

        fuzz_check(text);
        memcpy(text, data, size);
        text[size] = '\0';
        return text;
}

bool fuzz_is_printable(const char *string)
{
        for (; *string; string++)
                if (*string < ' ' || *string > '~')
                        return false;
        return true;
}

static void write_backup(const char *name, char letter)
{
        static const char format[] =
                "contents = \"Text Format Volume Group\"\nversion = 1\n%s {\n"
                "id = \"%c00000-0000-0000-0000-0000-0000-000000\"\nseqno = 1\n"
                "physical_volumes {\npv0 {\nid = \"%c00000-0000-0000-0000-0000-0000-000001\"\n}\n}\n"
                "logical_volumes {\nsrv {\nid = \"%c00000-0000-0000-0000-0000-0000-000002\"\nstatus = [\"VISIBLE\"]\n}\n"
                "}\n}\n";
        _cleanup_free_ char *text = string_format(format, name, letter, letter, letter);
        _cleanup_free_ char *path = string_format("etc/lvm/backup/%s", name);

        fuzz_check(text && path);
        fuzz_write(path, text, strlen(text));
}

void fuzz_write_backups(void)
{
        write_backup("data", 'a');
        write_backup("my-data", 'b');
}
