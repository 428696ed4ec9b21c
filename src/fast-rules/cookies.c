/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/cookies.h"

#include "fast-rules/cookie.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/udev.h"
#include "shared/util.h"

/* Given by the rules to events of device-mapper: who completes the cookie. With
 * the dot it is not kept in udev's database. */
#define PROPERTY_MARK ".HEADGATE_COOKIE"
#define MARK_WORKER "worker"
#define PROPERTY_COOKIE "DM_COOKIE"

struct cookies {
        int run_fd;
        struct monitor monitor;
        bool expecting;
        bool promised;
};

struct cookies *cookies_free(struct cookies *cookies)
{
        if (!cookies)
                return NULL;
        monitor_close(&cookies->monitor);
        free(cookies);
        return NULL;
}
DEFINE_CLEANUP(struct cookies *, cookies_free)

/* Where it cannot, the program goes on completing them. */
static void promise(struct cookies *cookies)
{
        int r;

        if (!cookies->expecting || cookies->promised)
                return;
        r = flags_set(cookies->run_fd, FLAGS_COMPLETING);
        if (r < 0) {
                log_warning("Failed to say that the worker completes cookies: %s", strerror(-r));
                cookies->expecting = false;
        } else
                cookies->promised = true;
}

/* Who waits for it can have been freed by somebody else, by dmsetup udevcomplete_all for instance. Should it fail
 * otherwise, it would be waited for in vain, so the worker has to end. */
static int complete(struct udev_device *device)
{
        const char *text = udev_device_get_property_value(device, PROPERTY_COOKIE);
        uint32_t cookie;
        int r;

        r = text ? parse_u32(text, &cookie) : -EBADMSG;
        if (r >= 0)
                r = cookie_complete(cookie);
        if (r == -ENOENT || r == -EAGAIN) {
                log_debug("Nobody waits for the cookie %s any more.", text);
                return 0;
        }
        return r < 0 ? log_error_errno(r, "Failed to complete the cookie %s: %m", text ?: "(none)") : 0;
}

static int on_event(struct cookies *cookies, struct udev_device *device)
{
        const char *mark = udev_device_get_property_value(device, PROPERTY_MARK);

        if (mark && streq(mark, MARK_WORKER))
                return complete(device);
        if (mark)
                promise(cookies);
        return 0;
}

static int take_events(struct cookies *cookies, size_t n_max)
{
        bool lost = false;

        for (size_t n = 0; n < n_max; n++) {
                _cleanup_udev_device_ struct udev_device *device = monitor_receive(&cookies->monitor, &lost);
                int r;

                if (!device)
                        break;
                r = on_event(cookies, device);
                if (r < 0)
                        return r;
        }
        return lost ? log_error_errno(-ENOBUFS, "More events came from udev than could be heard: %m") : 0;
}

int cookies_drain(struct cookies *cookies)
{
        return cookies ? take_events(cookies, SIZE_MAX) : 0;
}

static int on_monitor(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t revents, void *userdata)
{
        return take_events(userdata, MONITOR_EVENTS_MAX);
}

int cookies_withdraw(struct cookies *cookies)
{
        int r;

        if (!cookies)
                return 0;
        cookies->expecting = false;
        if (!cookies->promised)
                return 0;
        r = flags_clear(cookies->run_fd, FLAGS_COMPLETING);
        if (r < 0)
                return log_error_errno(r, "Failed to say that the worker completes no cookies any more: %m");
        cookies->promised = false;
        return 0;
}

int cookies_new(sd_event *event, int run_fd, struct cookies **ret)
{
        _cleanup_(cookies_freep) struct cookies *cookies = calloc(1, sizeof(*cookies));
        int r;

        if (!cookies)
                return -ENOMEM;
        cookies->run_fd = run_fd;
        r = monitor_open(&cookies->monitor);
        if (r < 0)
                return r;
        r = udev_monitor_filter_add_match_subsystem_devtype(cookies->monitor.monitor, "block", "disk");
        if (r < 0)
                return r;
        r = monitor_start(&cookies->monitor, event, on_monitor, cookies);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(cookies);
        return 0;
}

void cookies_expect(struct cookies **cookies, sd_event *event, int run_fd)
{
        int r;

        if (!*cookies && flags_is_set(run_fd, FLAGS_DM_NAMES) > 0) {
                r = cookies_new(event, run_fd, cookies);
                if (r < 0)
                        log_warning("Failed to listen to udev's events of device-mapper: %s", strerror(-r));
        }
        if (*cookies)
                (*cookies)->expecting = true;
}
