# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Completion of headgate(8) for fish. Verbs, options and kinds of arguments are taken from headgate's
# help texts, so that they always match.

# The directory of block devices and of the links of LVs.
set -q __headgate_devices; or set -g __headgate_devices /dev

function __headgate_command # WORD...: those that say whose help text counts: the program, a verb, a plan
    set -l command $argv[1]
    for word in $argv[2..]
        string match -q -- '-*' $word; and continue
        set -l choices (__headgate_choices ($command --help 2>/dev/null))
        set -q choices[1]; or break
        set -a command $word
    end
    printf '%s\n' $command
end

function __headgate_choices # HELP: "VERB\twhat it does", or plans
    printf '%s\n' $argv | sed -nE '/^(Verbs|Plans):$/,/^$/s/^  ([a-z-]*[a-z]) +((\[--[a-z]+\]|[^a-z ]+) +)?(.*)/\1\t\4/p'
end

function __headgate_options # HELP: "OPTION\twhat it does"
    printf '%s\n' $argv | sed -nE -e 's/^ {2,}(-[[:alnum:]]), (--[a-z][a-z-]*)( [A-Z]+)? +(.*)/\1\t\4\n\2\t\4/p' \
        -e 's/^ {2,}(--[a-z][a-z-]*)( [A-Z]+|\[=[A-Z]+\])? +(.*)/\1\t\3/p'
end

function __headgate_value_of # OPTION HELP: what kind of value it takes, LIST for instance; OPTION= may take one that needs the =
    printf '%s\n' $argv[2..] | sed -nE -e 's/^ {2,}(--[a-z-]+)\[=([A-Z]+)\]  .*/\1= \2/p' \
        -e 's/^ {2,}((-[[:alnum:]]), )?(--[a-z-]+) ([A-Z]+)  .*/\2 \4\n\3 \4/p' | string replace -f -- "$argv[1] " ''
end

function __headgate_links # all VG/LV that are active
    find $__headgate_devices/ -mindepth 2 -maxdepth 2 -type l -lname '*/dm-*' ! -path '*/mapper/*' ! -name '*:*' -printf '%P\n' 2>/dev/null
end

# Without root permissions headgate fails, but active LVs are visible. VG names have no other characters.
function __headgate_volume_groups # PROGRAM
    begin
        $argv[1] status --noheadings -o VG 2>/dev/null | string trim
        __headgate_links | string replace -r '/.*' ''
    end | string match -r '^[[:alnum:]_+.][[:alnum:]_+.-]*$'
end

function __headgate_boots # how they are named
    journalctl --quiet --no-pager --list-boots 2>/dev/null | awk '$1 ~ /^-?[0-9]+$/ { print $1; print $2 }'
end

function __headgate_columns # VALUE COMMAND...: columns, after what is in the list already
    set -l before (string replace -r '[^,+]*$' '' -- $argv[1])
    for line in ($argv[2..] --list-columns 2>/dev/null)
        set -l words (string match -r -- '^(\S+) +(.*)$' $line); or continue
        contains -- $words[2] (string split , -- (string trim -l -c + -- $before))
        or printf '%s\t%s\n' $before$words[2] $words[3]
    end
end

function __headgate_value # KIND VALUE COMMAND...
    switch $argv[1]
        case LIST
            __headgate_columns $argv[2..]
        case BOOT
            __headgate_boots
        case FILE
            __fish_complete_path $argv[2]
    end
end

function __headgate_arguments # PROGRAM WORD USAGE: of the kinds that the first line of the help text names
    if string match -qr '\[FILE|\] FILE' -- $argv[3]
        __fish_complete_path $argv[2]
        return
    end
    if not string match -qr '^[/.]' -- $argv[2]
        string match -q '*VG*' -- $argv[3]; and __headgate_volume_groups $argv[1]
        string match -q '*VG/LV*' -- $argv[3]; and __headgate_links
    else if string match -q '*DEVICE*' -- $argv[3]
        __fish_complete_path $argv[2]
    end
end

function __headgate
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l command (__headgate_command $words)
    set -l help ($command --help 2>/dev/null)
    if not contains -- -- $words[2..]
        set -l option (string match -r -- '^(--[a-z-]+)=(.*)$' $word)
        if set -q option[1]
            set -l kind (__headgate_value_of $option[2] $help) (__headgate_value_of $option[2]= $help)
            __headgate_value "$kind[1]" "$option[3]" $command | string replace -r '^' -- $option[2]=
            return
        end
        set -l kind (__headgate_value_of $words[-1] $help)
        if set -q kind[1]
            __headgate_value $kind[1] "$word" $command
            return
        end
        if string match -q -- '-*' $word
            test "$(__headgate_value_of $words[-1]= $help)" = BOOT; and __headgate_boots
            __headgate_options $help
            return
        end
    end
    set -l choices (__headgate_choices $help)
    if set -q choices[1]
        printf '%s\n' $choices
    else
        __headgate_arguments $words[1] "$word" $help[1]
    end
end

complete -c headgate -f -a '(__headgate)'
