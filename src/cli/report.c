/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate report: writes an archive for a bug report, with the output of other verbs and programs, and files. */

#include <fcntl.h>
#include <sys/stat.h>

#include "boot/plan.h"
#include "cli/verb.h"
#include "lvm/command.h"
#include "report/scrub.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "timeline/journal.h"
#include "tree/tree.h"
#include "view/snapshot.h"

static bool arg_anonymize;

/* Name of the folder in the archive. */
#define FOLDER "headgate-report"

#define HEADGATE BINDIR "/headgate "
#define JOURNAL "/bin/journalctl --boot --no-pager --output=short-monotonic --lines=20000 "

/* A member of the archive: the output of a command, its words separated by spaces, or a file. */
static const struct member {
        const char *name, *source;
} members[] = {
        /* First: they mark names of disks and file systems, which the others may have without a mark. */
        {"fstab", "/etc/fstab"},
        {"crypttab", "/etc/crypttab"},
        {"cmdline", "/proc/cmdline"},
        {"system.devices", "/etc/lvm/devices/system.devices"},
        {"doctor", HEADGATE "doctor --all"},
        {"status", HEADGATE "status --all"},
        {"status.json", HEADGATE "status --all --json"},
        {"why", HEADGATE "why"},
        {"tree", HEADGATE "tree"},
        {"plan-activate", HEADGATE "plan activate"},
        {"plan-initrd", HEADGATE "plan initrd"},
        {"blame", HEADGATE "blame"},
        {"blame-boot-1", HEADGATE "blame --boot=-1"},
        {"blame-boot-2", HEADGATE "blame --boot=-2"},
        {"blame-shutdown-1", HEADGATE "blame --shutdown=-1"},
        {"blame-shutdown-2", HEADGATE "blame --shutdown=-2"},
        {"journal-units", JOURNAL "--unit=headgate* --unit=lvm2* --unit=systemd-udevd*"},
        {"journal-programs",
                JOURNAL "--identifier=headgate-generator --identifier=headgate-request --identifier=lvm"},
        {"lvm-version", LVM_PROGRAM " version"},
        {"lvm.conf-differences", LVM_PROGRAM " lvmconfig --typeconfig=diff"},
        {"lsblk", "/bin/lsblk --all --output=NAME,MAJ:MIN,TYPE,SIZE,FSTYPE,UUID,MOUNTPOINTS"},
        {"dmsetup-table", "/sbin/dmsetup table"},
        {"dmsetup-info", "/sbin/dmsetup info --columns"},
        {"dmsetup-udevcookies", "/sbin/dmsetup udevcookies"},
        {"headgate.conf", "/etc/headgate/headgate.conf"},
        {"records", "/run/headgate/records"},
        {"os-release", "/etc/os-release"},
};

#define WORDS_MAX 8

/* ------ names. These return 0 or a negative errno ------ */

static int add_volume_groups(struct scrubber *scrubber, struct sources *sources)
{
        /* Includes VGs that only a backup or device-mapper knows. */
        int r = snapshot_read(sources) ?: unrecorded_add_all(sources);

        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs) {
                r = r ?: scrubber_add(scrubber, "vg", (*vg)->name);
                FOREACH_LV(lv, *vg)
                        r = r ?: scrubber_add(scrubber, "lv", lv->name);
        }
        FOREACH_DM_DEVICE(device, sources->devices)
                r = r ?: scrubber_add_path(scrubber, device->lv ? "lv" : "dm", device->lv ?: device->name);
        return r;
}

/* Adds mount points and hosts of file systems on devices or other hosts. */
static int add_mounts(struct scrubber *scrubber, int root_fd, const char *path)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r = mount_table_read(root_fd, path, &table);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        r = 0;
        FOREACH_MOUNT(entry, &table) {
                const char *source = mnt_fs_get_source(entry) ?: "", *label = skip_prefix(source, "LABEL=");

                if (!strpbrk(source, "/="))
                        continue;
                r = r ?: scrubber_add_path(scrubber, "dir", mnt_fs_get_target(entry) ?: "");
                r = r ?: scrubber_add_path(scrubber, "id", label ?: "");
                if (!strchr(source, '=') && !path_is_at_or_below(source, "/dev"))
                        r = r ?: scrubber_add_path(scrubber, "host", source);
        }
        return r;
}

/* Of encrypted devices, also of those that are not open. */
static int add_crypttab(struct scrubber *scrubber, int root_fd)
{
        _cleanup_free_ char *text = NULL;
        int r = read_file_at(root_fd, root_relative(CRYPTTAB_FILE), &text, NULL) == -ENOMEM ? -ENOMEM : 0;

        FOREACH_CRYPTTAB_LINE(line, text)
                r = r ?: scrubber_add_path(scrubber, "dm", line.fields[0]);
        return r;
}

/* Of a device that an earlier shutdown removed. */
static int add_removed(struct scrubber *scrubber, const struct timeline_bar *bar)
{
        _cleanup_free_ char *copy = strdup(bar->name);
        char *vg = copy, *lv, *layer;

        if (!copy || !dm_split_lvm_name(NULL, NULL, &vg, &lv, &layer))
                return -ENOMEM;
        for (enum tree_kind kind = TREE_MULTIPATH; kind <= TREE_LV_INTEGRITY_PART; kind++)
                if (streq(bar->kind, tree_kind_to_string(kind)))
                        return kind < TREE_LV_LINEAR ? scrubber_add_path(scrubber, "dm", bar->name)
                                                     : scrubber_add(scrubber, "vg", vg)
                                                               ?: scrubber_add(scrubber, "lv", lv);
        return 0;
}

/* Of VGs and devices that only an earlier boot had. */
static int add_earlier(struct scrubber *scrubber, enum timeline_kind kind, unsigned int n_boots)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = kind};
        int r = timeline_read_earlier(&timeline, n_boots) == -ENOMEM ? -ENOMEM : 0;

        FOREACH_ARRAY(bar, timeline.bars, timeline.n)
                r = r
                            ?: kind == TIMELINE_BOOT ? scrubber_add(scrubber, "vg", bar->name)
                                                     : add_removed(scrubber, bar);
        return r;
}

static int add_names(struct scrubber *scrubber)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_free_ char *host = NULL;
        int r = sources_open(&sources) ?: add_volume_groups(scrubber, &sources);

        if (r >= 0 && sysfs_read_at(sources.root_fd, "proc/sys/kernel/hostname", &host) >= 0) {
                r = scrubber_add(scrubber, "host", host);
                host[strcspn(host, ".")] = '\0';
                r = r ?: scrubber_add(scrubber, "host", host);
        }
        /* As the members above. */
        for (unsigned int i = 1; i <= 2; i++)
                r = r ?: add_earlier(scrubber, TIMELINE_BOOT, i) ?: add_earlier(scrubber, TIMELINE_SHUTDOWN, i);
        return r ?: add_mounts(scrubber, sources.root_fd, "proc/self/mountinfo")
                            ?: add_mounts(scrubber, sources.root_fd, "etc/fstab")
                            ?: add_crypttab(scrubber, sources.root_fd);
}

/* ------ the archive. These return 0 or a negative errno ------ */

/* Reads the file or runs the program; no program if the root is a test's. Returns an exit status or a negative errno. */
static int read_member(const struct member *member, char **ret)
{
        _cleanup_close_ int root_fd = root_open();
        _cleanup_free_ char *copy = strdup(member->source);
        char *words[WORDS_MAX + 1] = {};

        if (!copy || root_fd < 0)
                return copy ? root_fd : -ENOMEM;
        if (!strchr(copy, ' '))
                return read_file_at(root_fd, root_relative(copy), ret, NULL);
        (void) dm_split_words(copy, WORDS_MAX, 0, words);
        return root_is_chosen() ? -EOPNOTSUPP : command_run(words[0], (const char *const *) words + 1, ret);
}

static int add_text(int folder_fd, struct scrubber *scrubber, const char *name, const char *text)
{
        _cleanup_free_ char *scrubbed = scrub(scrubber, text);

        return scrubbed ? write_file_atomic_at(folder_fd, name, scrubbed) : -ENOMEM;
}

static int fill(int folder_fd, struct scrubber *scrubber, char **ret_contents)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *contents = memstream_open(&stream);

        if (!contents)
                return -ENOMEM;
        FOREACH_ELEMENT(member, members) {
                _cleanup_free_ char *text = NULL;
                int status = read_member(member, &text),
                    r = add_text(folder_fd, scrubber, member->name, text ?: "");

                if (r < 0)
                        return r;
                fprintf(contents, "%-20s %s", member->name, member->source);
                /* The report is written without members that cannot be read. */
                if (status < 0)
                        fprintf(contents, " (%s)\n", strerror(-status));
                else
                        fprintf(contents, status > 0 ? " (exit status %i)\n" : "\n", status);
        }
        *ret_contents = memstream_finish(&stream);
        return *ret_contents ? add_text(folder_fd, scrubber, "CONTENTS", *ret_contents) : -ENOMEM;
}

/* --force-local: GNU tar must not take a name with a colon for a remote file. */
static int pack(int fd)
{
        /* By its descriptor: the owner of the parent directory may have replaced it by another directory. */
        struct path file = path_format("--file=/proc/%i/fd/%i/archive", getpid(), fd);
        struct path where = path_format("--directory=/proc/%i/fd/%i", getpid(), fd);
        const char *const words[] = {"--create", "--gzip", "--force-local", file.text, where.text, FOLDER, NULL};
        _cleanup_free_ char *output = NULL;
        int r = command_run("/bin/tar", words, &output);

        return r <= 0 ? r : log_error_errno(-EIO, "tar failed: %s", output);
}

/* Writes into a directory beside the file, so that the archive can be renamed. tar warns about an archive in the folder that it
 * reads. */
static int write_report(const char *path, char **ret_contents)
{
        _cleanup_scrubber_ struct scrubber scrubber = {};
        const char *name = basename(path);
        _cleanup_free_ char *directory = string_format("%.*s.headgate-report.XXXXXX", (int) (name - path), path);
        _cleanup_close_ int fd = -EBADF, folder_fd = -EBADF;
        struct stat status;
        int r = scrubber_open(&scrubber, arg_anonymize);

        if (r >= 0 && arg_anonymize)
                r = add_names(&scrubber);
        if (r < 0 || !directory)
                return r < 0 ? r : -ENOMEM;
        (void) umask(0077);
        if (!mkdtemp(directory))
                return -errno;
        fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && (fstat(fd, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 0777) != 0700))
                return -EPERM;
        if (fd >= 0 && mkdirat(fd, FOLDER, 0700) >= 0)
                folder_fd = openat(fd, FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
        r = folder_fd < 0 ? -errno : fill(folder_fd, &scrubber, ret_contents) ?: pack(fd);
        if (r >= 0 && renameat(fd, "archive", AT_FDCWD, path) < 0)
                r = -errno;
        (void) command_try("/bin/rm", (const char *const[]){"--recursive", "--", directory, NULL});
        return r;
}

static int run(char *names[], size_t n, struct table *table _unused_)
{
        _cleanup_free_ char *contents = NULL;
        int r;

        if (n != 1)
                return verb_refuse("Expected the name of one file, see --help.");
        if (!verb_can_replace(names[0]))
                return EXIT_CANNOT_TELL;
        r = write_report(names[0], &contents);
        if (r < 0)
                return verb_fail(r, "Failed to write %s: %m", names[0]);
        printf("%s\nWrote %s, readable by root only. Check it for secrets before you share it.\n", contents,
                names[0]);
        return EXIT_SUCCESS;
}

static const struct verb_option options[] = {
        {"anonymize", '\0', NULL, "Replace names of VGs, LVs, hosts and directories", &arg_anonymize},
        {},
};

const struct verb verb_report = {"report", "FILE", "Write an archive for a bug report",
        .help = "Usage: headgate report [OPTION...] FILE\n\n"
                "Write an archive with all that a bug report needs, without keys and passwords.\n\n",
        .footer = "Exit status: 0, or 2 if that failed.\n\n", .root_only = "read all files for a report",
        .options = options, .run = run};
