/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-dm.h"

#include <linux/dm-ioctl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shared/util.h"

const char fake_dm[] = "dev/mapper/control";

struct line {
        dev_t number;
        char *name, *uuid, *target;
        bool suspended;
};

/* Decodes \xNN, and "-" to "". In place, as the result is never longer. */
static char *unmangle(char *text)
{
        char *to = text;

        if (streq(text, "-"))
                *text = '\0';
        for (const char *from = text; *from != '\0';) {
                unsigned int byte;
                int length = 0;

                /* %2x also accepts one digit. */
                if (*from != '\\' || sscanf(from, "\\x%2x%n", &byte, &length) != 1 ||
                        length != (int) strlen("\\xNN")) {
                        byte = (unsigned char) *from;
                        length = 1;
                }
                *to++ = (char) byte;
                from += length;
        }
        *to = '\0';
        return text;
}

/* Splits it in place. An invalid line ends the program. */
static struct line parse(char *text)
{
        char *words[5] = {NULL}, *position = NULL;
        unsigned int major_number, minor_number;

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                words[i] = strtok_r(i == 0 ? text : NULL, " \n", &position);
        if (!words[3] || sscanf(words[0], "%u:%u", &major_number, &minor_number) != 2)
                abort();
        return (struct line){
                .number = makedev(major_number, minor_number),
                .name = unmangle(words[1]),
                .uuid = unmangle(words[2]),
                .target = unmangle(words[3]),
                .suspended = words[4] && streq(words[4], "suspended"),
        };
}

/* Maps the file, and again after it has changed: a request is one system call here, too. */
static const char *map(int fd, const struct stat *status)
{
        static struct stat mapped;
        static const char *text = "";

        if (status->st_ino == mapped.st_ino && status->st_size == mapped.st_size &&
                memcmp(&status->st_mtim, &mapped.st_mtim, sizeof(mapped.st_mtim)) == 0)
                return text;
        if (mapped.st_size > 0)
                munmap((void *) (uintptr_t) text, (size_t) mapped.st_size);
        mapped = *status;
        text = status->st_size == 0 ? "" : mmap(NULL, (size_t) status->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (text == MAP_FAILED)
                abort();
        return text;
}

static size_t align(size_t size)
{
        return (size + 7) & ~(size_t) 7;
}

/* As the kernel's list_devices() does, with DM_UUID_FLAG. */
static void list_devices(const char *list, size_t size, struct dm_ioctl *header)
{
        _cleanup_free_ char *text = strndup(list, size);
        char *position = (char *) header + header->data_start, *const end = (char *) header + header->data_size;
        struct dm_name_list *last = NULL;

        memset(position, 0, (size_t) (end - position));
        FOREACH_LINE(at, text) {
                struct dm_name_list *entry = (struct dm_name_list *) (void *) position;
                size_t offset;
                uint32_t *event_and_flags;
                struct line line;

                if (*at == '\0')
                        continue;
                line = parse(at);
                offset = align(offsetof(struct dm_name_list, name) + strlen(line.name) + 1);
                if (position + offset + 8 + strlen(line.uuid) + 1 + 8 > end) {
                        header->flags |= DM_BUFFER_FULL_FLAG;
                        return;
                }
                if (last)
                        last->next = (uint32_t) (position - (char *) last);
                last = entry;
                entry->dev = line.number;
                strcpy(entry->name, line.name);
                event_and_flags = (uint32_t *) (void *) (position + offset);
                event_and_flags[1] =
                        *line.uuid != '\0' ? DM_NAME_LIST_FLAG_HAS_UUID : DM_NAME_LIST_FLAG_DOESNT_HAVE_UUID;
                strcpy((char *) (event_and_flags + 2), line.uuid);
                position += align(offset + 8 + strlen(line.uuid) + 1);
        }
}

/* Answers DM_DEV_STATUS, and DM_TABLE_STATUS if there is room for a target. Returns false if there is no such device. */
static bool find_status(const char *list, size_t size, struct dm_ioctl *header)
{
        struct dm_target_spec *target = (struct dm_target_spec *) (void *) ((char *) header + header->data_start);
        _cleanup_free_ char *start =
                string_format("\n%u:%u ", major((dev_t) header->dev), minor((dev_t) header->dev));
        _cleanup_free_ char *text = NULL;
        const char *found = size >= strlen(start) && memcmp(list, start + 1, strlen(start + 1)) == 0
                                    ? list
                                    : memmem(list, size, start, strlen(start)),
                   *end;
        struct line line;

        if (!found)
                return false;
        found += *found == '\n';
        end = memchr(found, '\n', (size_t) (list + size - found));
        text = strndup(found, (size_t) ((end ?: list + size) - found));
        line = parse(text);
        header->flags =
                (*line.target != '\0' ? DM_ACTIVE_PRESENT_FLAG : 0U) | (line.suspended ? DM_SUSPEND_FLAG : 0U);
        header->target_count = *line.target != '\0';
        if (header->data_size >= header->data_start + sizeof(*target))
                strncpy(target->target_type, line.target, sizeof(target->target_type) - 1);
        return true;
}

int ioctl(int fd, unsigned long request, ...)
{
        const char *list;
        struct stat status;
        va_list arguments;
        void *argument;
        size_t size;
        bool found = true;

        va_start(arguments, request);
        argument = va_arg(arguments, void *);
        va_end(arguments);
        if (_IOC_TYPE(request) != DM_IOCTL)
                return (int) syscall(SYS_ioctl, fd, request, argument);
        if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
                errno = ENOTTY;
                return -1;
        }
        /* What a device lies on is read from sysfs then. */
        if (request != DM_LIST_DEVICES && request != DM_DEV_STATUS && request != DM_TABLE_STATUS) {
                errno = ENXIO;
                return -1;
        }
        size = (size_t) status.st_size;
        list = map(fd, &status);
        if (request == DM_LIST_DEVICES)
                list_devices(list, size, argument);
        else
                found = find_status(list, size, argument);
        errno = ENXIO;
        return found ? 0 : -1;
}
