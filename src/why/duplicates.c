/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/duplicates.h"

#include <sys/sysmacros.h>

#include "tree/sysfs.h"

/* The worker's links, devices/MAJOR:MINOR to the PVID that it has seen there, see worker/inventory.h. */
#define LINKS "devices"

static DIR *open_links(const struct sources *sources)
{
        return sources->run_fd < 0 ? NULL : open_directory_at(sources->run_fd, LINKS);
}

static bool read_link(
        DIR *directory, const struct dirent *entry, char ret_pvid[static LVM_ID_SIZE], dev_t *ret_number)
{
        unsigned int major_number, minor_number;

        ret_pvid[LVM_ID_LENGTH] = '\0';
        if (readlinkat(dirfd(directory), entry->d_name, ret_pvid, LVM_ID_LENGTH) != LVM_ID_LENGTH ||
                sscanf(entry->d_name, "%u:%u", &major_number, &minor_number) != 2)
                return false;
        *ret_number = makedev(major_number, minor_number);
        return true;
}

/* A device that has gone has no place in sysfs. */
static int find_name(const struct sources *sources, dev_t number, char **ret)
{
        _cleanup_free_ char *location = NULL;
        int r;

        r = sysfs_read_location(sources->root_fd, number, &location);
        if (r <= 0)
                return r;
        *ret = strdup(strrchr(location, '/') + 1);
        return *ret ? 1 : -ENOMEM;
}

int find_duplicate_of_pv(const struct sources *sources, const char *pvid, dev_t number, char **ret)
{
        _cleanup_closedir_ DIR *directory = open_links(sources);
        int r = 0;

        for (const struct dirent *entry; r == 0 && directory && (entry = readdir(directory));) {
                char found[LVM_ID_SIZE];
                dev_t other;

                if (read_link(directory, entry, found, &other) && streq(found, pvid) && other != number)
                        r = find_name(sources, other, ret);
        }
        return r;
}

static int explain_duplicate(const struct sources *sources, const struct volume_group_pv *pv, dev_t other,
        struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];
        _cleanup_free_ char *name = NULL;
        int r;

        r = find_name(sources, other, &name);
        if (r <= 0)
                return r;
        lvm_id_format(pv->pvid, formatted);
        explanation_condition(explanation, "duplicate-pv");
        explanation_fact(explanation,
                "PV %s is on %s and also on /dev/%s, which is a copy or another path: headgate goes by the "
                "former, and lvm2 may refuse to activate what is on either.",
                formatted, pv->device_name ?: "?", name);
        explanation_advise(explanation,
                "Take one of the two devices away, or give the copy an identity of its own: vgimportclone(8).");
        return 0;
}

int explain_duplicate_pvs(
        const struct sources *sources, const struct record *record, struct explanation *explanation)
{
        _cleanup_closedir_ DIR *directory = open_links(sources);
        int r = 0;

        for (const struct dirent *entry; r >= 0 && directory && (entry = readdir(directory));) {
                const struct volume_group_pv *pv;
                char pvid[LVM_ID_SIZE];
                dev_t number;

                if (!read_link(directory, entry, pvid, &number))
                        continue;
                pv = volume_group_find_pv(record->volume_group, pvid);
                if (pv && pv->device != 0 && pv->device != number)
                        r = explain_duplicate(sources, pv, number, explanation);
        }
        return MIN(r, 0);
}
