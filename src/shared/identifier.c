/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shared/identifier.h"

#define LETTERS_AND_DIGITS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

#define NAME_LETTERS LETTERS_AND_DIGITS "._+-"

#define NAME_LENGTH_MAX 127

bool lvm_id_is_valid(const char *id)
{
        return strnlen(id, LVM_ID_SIZE) == LVM_ID_LENGTH && strspn(id, LETTERS_AND_DIGITS "!#") == LVM_ID_LENGTH;
}

int lvm_id_parse(const char *text, char ret[LVM_ID_SIZE])
{
        char id[LVM_ID_SIZE] = {};
        size_t length = 0;

        /* lvm2 does not care where the dashes are. */
        for (; *text; text++) {
                if (*text == '-')
                        continue;
                if (length >= LVM_ID_LENGTH)
                        return -EBADMSG;
                id[length++] = *text;
        }
        if (!lvm_id_is_valid(id))
                return -EBADMSG;

        memcpy(ret, id, LVM_ID_SIZE);
        return 0;
}

void lvm_id_format(const char id[LVM_ID_SIZE], char ret[LVM_ID_FORMATTED_SIZE])
{
        for (size_t i = 0; i < LVM_ID_LENGTH; i++) {
                if (i >= 6 && i < LVM_ID_LENGTH - 2 && (i - 6) % 4 == 0)
                        *ret++ = '-';
                *ret++ = id[i];
        }
        *ret = '\0';
}

bool volume_group_name_is_valid(const char *name)
{
        size_t length = strlen(name);

        return length > 0 && length <= NAME_LENGTH_MAX && strspn(name, NAME_LETTERS) == length && name[0] != '-' &&
               !streq(name, ".") && !streq(name, "..");
}

char *logical_volume_name_to_show(const char *name)
{
        size_t length = strnlen(name, NAME_LENGTH_MAX);
        char *shown = malloc(length * strlen("\\xNN") + sizeof("..."));
        char *end = shown;

        if (!shown)
                return NULL;
        for (size_t i = 0; i < length; i++)
                if (strchr(NAME_LETTERS, name[i]))
                        *end++ = name[i];
                else
                        end += sprintf(end, "\\x%02x", (unsigned char) name[i]);
        strcpy(end, name[length] ? "..." : "");
        return shown;
}
