version = 1
kind = "boot"
host = "guest"
kernel = "6.12.101"
realtime_usec = 1795309164131075
n_bars = 5
bars {
b0 {
name = "wide"
reason = "1 PV missing."
state = "waiting"
end = "unfinished"
first_usec = 29275880
pvs_usec = 27489733
n_pvs = 2
n_lvs = 1
}
b1 {
name = "vg0001"
reason = ""
state = "active"
end = "done"
first_usec = 22471134
pvs_usec = 1208
queue_usec = 3458291
lvm2_usec = 5667056
asked_usec = 25930633
complete = 1
n_pvs = 1
n_lvs = 2
}
b2 {
name = "vg0002"
reason = ""
state = "active"
end = "done"
first_usec = 29275353
pvs_usec = 282
queue_usec = 6584788
lvm2_usec = 640012
udev_usec = 1310017
asked_usec = 31598799
linked_usec = 37810452
complete = 1
n_pvs = 1
n_lvs = 2
}
b3 {
name = "vg0003"
reason = ""
state = "active"
end = "done"
first_usec = 29274791
pvs_usec = 291
queue_usec = 4535314
lvm2_usec = 570008
udev_usec = 1480019
asked_usec = 31598799
linked_usec = 35860423
complete = 1
n_pvs = 1
n_lvs = 2
}
b4 {
name = "vg0004"
reason = ""
state = "active"
end = "done"
first_usec = 29273871
pvs_usec = 591
queue_usec = 2324337
lvm2_usec = 1081582
udev_usec = 1130015
asked_usec = 31598799
linked_usec = 33810396
complete = 1
n_pvs = 1
n_lvs = 2
}
}
