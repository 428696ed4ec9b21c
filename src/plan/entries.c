/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/entries.h"

#include <libmount.h>

#include "shared/names.h"
#include "shared/util.h"

/* Takes `name` over, unless it fails. */
static int append(struct entries *entries, const struct entry_text *text, struct device_name *name)
{
        _cleanup_free_ char *device = string_printable(text->device);
        struct entry *larger;

        if (!device)
                return -ENOMEM;
        /* Up to the next power of 2: a table may be long. */
        if ((entries->n & (entries->n - 1)) == 0) {
                larger = reallocarray(entries->entries, entries->n > 0 ? entries->n * 2 : 1, sizeof(*larger));
                if (!larger)
                        return -ENOMEM;
                entries->entries = larger;
        }

        entries->entries[entries->n++] = (struct entry){
                .source = text->source,
                .device = TAKE_PTR(device),
                .name = *name,
                .net = text->net,
        };
        *name = (struct device_name){};
        return 0;
}

int entries_add(struct entries *entries, const struct entry_text *text)
{
        _cleanup_device_name_ struct device_name name = {};
        int r;

        r = device_name_read(text->device, &name);
        if (r < 0)
                return r;
        if (name.kind == DEVICE_OTHER || (name.kind == DEVICE_UNRESOLVED && text->mounted))
                return 0;
        return append(entries, text, &name);
}

int entries_add_volume_group(struct entries *entries, const char *source, const char *text, const char *name)
{
        _cleanup_device_name_ struct device_name device_name = {.kind = DEVICE_OF_NAME};

        if (!volume_group_name_is_valid(name))
                return 0;
        device_name.volume_group = strdup(name);
        if (!device_name.volume_group)
                return -ENOMEM;
        return append(entries, &(struct entry_text){.source = source, .device = text}, &device_name);
}

void entries_done(struct entries *entries)
{
        for (size_t i = 0; i < entries->n; i++) {
                free(entries->entries[i].device);
                device_name_done(&entries->entries[i].name);
        }
        free(entries->entries);
        *entries = (struct entries){};
}

/* Whether `yes` comes in the list, and `no` does not come after it. */
static bool last_option_is(const char *options, const char *yes, const char *no)
{
        /* The function moves it along the text, which it leaves alone. */
        char *rest = (char *) options, *name;
        size_t size;
        bool is = false;

        while (rest && mnt_optstr_next_option(&rest, &name, &size, NULL, NULL) == 0)
                if (size == strlen(yes) && strncmp(name, yes, size) == 0)
                        is = true;
                else if (size == strlen(no) && strncmp(name, no, size) == 0)
                        is = false;
        return is;
}

bool options_have_netdev(const char *options)
{
        return last_option_is(options, "_netdev", "");
}

bool options_have_noauto(const char *options)
{
        return last_option_is(options, "noauto", "auto");
}
