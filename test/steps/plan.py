# SPDX-License-Identifier: LGPL-2.1-or-later
"""The steps that there are. Those of scenarios are made of their headers, those of benchmarks of test/bench/bounds.py."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
sys.path[:0] = [str(TESTS / "guest"), str(TESTS / "bench")]
from bounds import FULL, SHORT, Bounded          # noqa: E402
from harness import scenario                     # noqa: E402
from step import ALONE, MEASURING, WAITING, Step # noqa: E402

# Deadlines in a guest that has three others beside it on two processors.
PATIENCE = ["--patience", "3"]
# For what makes thousands of small files: where ext4 is slow to find an inode for each, memory is not.
IN_MEMORY = ["env", "TMPDIR=/dev/shm"]
# Programs with sanitizers, of which unit tests run thousands: they start in three quarters of the time without a dynamic runtime,
# and are built in three quarters of it when they are not optimized as far as what is installed.
QUICK_TO_BUILD = ["-Dc_link_args=-static-libasan -static-libubsan", "-Doptimization=1"]
# Of test/check --all, if it is not said how many; each takes 100 minutes at most, by the steps' own estimates.
PARTS = 5
# Seconds for each fuzz target in --all; longer for what was found once, and for what others write on disks.
FUZZ_SECONDS = 60
FUZZ_LONGER = {"configuration": 300, "label": 300, "metadata": 300}


@dataclass
class Builds:
    """Where what is built goes: for guests, with sanitizers, and so on."""
    plain: Path

    def of(self, kind):
        return Path(f"{self.plain}-{kind}")


def steps_of(check, builds, release=None):
    """The steps of a part of test/check: "quick", "plain" or "all". With a release, only its scenarios and cases."""
    guests = guest_steps(check, builds, release)
    if release:
        return [build_step(builds.plain), *guests]
    steps = [build_step(builds.plain, "-Dwerror=true"), build_step(builds.of("dev"), "--native-file", REPOSITORY / "build-dev.ini", *QUICK_TO_BUILD),
             *source_steps(), *unit_steps(check, builds), *model_steps(check, builds), *guests]
    if check != "quick":
        steps += [*analysis_steps(check, builds), *fuzz_steps(check, builds), faults_step(check, builds), hostile_step(builds), cost_step(builds)]
    if check == "all":
        # The newest one has what no release changes, too.
        steps += [Step(title("package", on, scenario.RELEASES[0]), [TESTS / "package", "--suite", on, "--build", builds.plain],
                       "packages", 600 if on == scenario.RELEASES[-1] else 450) for on in scenario.RELEASES]
        steps += [Step(title("dracut takes the module", on, "trixie"), [TESTS / "dracut", "--suite", on, "--build", builds.plain],
                       "packages", 120, after=[f"build {builds.plain.name}"]) for on in ("trixie", "forky")]
        steps.append(Step("commands of README and HACKING", [TESTS / "commands"], "sources", 700, ALONE))
        # One guest at a time.
        steps.append(Step("coverage", [TESTS / "coverage", "--build", builds.of("coverage")], "unit tests", 1300, WAITING))
    return steps


def build_step(build, *options):
    script = '. "$0" && build_project "$@"'
    return Step(f"build {build.name}", ["bash", "-c", script, TESTS / "prepare", build, *options], "build", 90)


def source_steps():
    return [Step("prose", [TESTS / "prose"], "sources", 5),
            Step("house", [TESTS / "house"], "sources", 2),
            *(Step(name, [TESTS / "sources", name], "sources", 10) for name in ("layout", "scripts", "licences", "release", "prefix"))]


def unit_steps(check, builds):
    sanitized = builds.of("dev")
    built = [f"build {builds.plain.name}"]
    # In a quick check there are no others. In a plain one, what starts thousands of processes does so without sanitizers.
    more = {"quick": [], "plain": ["--no-suite", "unsanitized", "--no-suite", "processes"], "all": ["--no-suite", "unsanitized"]}[check]
    steps = [Step("unit tests with sanitizers", [*meson_test(sanitized), *more], "unit tests", 180, after=[f"build {sanitized.name}"]),
             Step("units", [TESTS / "sources", "units", builds.plain], "sources", 10, after=built)]
    if check == "quick":
        return steps
    # All of them only in "all", as sanitizers see more.
    some = [] if check == "all" else ["--suite", "unsanitized", "--suite", "processes"]
    steps.append(Step("unit tests", [*meson_test(builds.plain), *some], "unit tests", 60, after=built))
    if git("rev-parse", "HEAD") and not git("status", "--porcelain"):
        tested = ["--tested"] if check == "all" else []
        steps.append(Step("what is released", [*IN_MEMORY, TESTS / "dist", *tested, builds.plain], "unit tests", 20, after=built))
    # Among them, but left out where the library is missing.
    steps.append(Step("the generator can be confined", ["test", "-x", builds.plain / "test/confine"], "unit tests", 1,
                      after=built))
    for name, programs in (("request", ["src/headgate-request", "test/empty"]), ("generator", ["src/headgate-generator"]),
                           ("status", ["src/headgate"]), ("metrics", ["src/headgate"])):
        steps.append(Step(f"cost of {name}", [TESTS / "cost", name, *(builds.plain / path for path in programs),
                                              *(["--absolute"] if check == "all" else [])],
                          "unit tests", 5, ALONE, after=built))
    return steps


def meson_test(build):
    return [*IN_MEMORY, "meson", "test", "-C", build, "--print-errorlogs"]


def git(*words):
    """What git says of the checkout, which may be another user's than root's; nothing of what is no checkout."""
    return subprocess.run(["git", "-c", f"safe.directory={REPOSITORY}", "-C", REPOSITORY, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.strip()


def analysis_steps(check, builds):
    tools = [("gcc's analyzer", "gcc", 80), ("clang-tidy", "clang", 400)] if check == "all" else [("clang-tidy", "tidy", 30)]
    return [Step(name, [TESTS / "analyze", kind, "--build", builds.of(f"analyze-{kind}"), "--jobs", "1"], "sources", seconds)
            for name, kind, seconds in tools]


def fuzz_steps(check, builds):
    build = builds.of("fuzz")
    prepared = Step("build of the fuzzers", [TESTS / "fuzz/run", "--build", build, "--seconds", "0"], "build", 90)
    # What was ever found is a unit test; this only shows that they still run.
    targets = sorted(path.stem.removeprefix("fuzz-") for path in (TESTS / "fuzz").glob("fuzz-*.c"))
    seconds = {target: FUZZ_LONGER.get(target, FUZZ_SECONDS) if check == "all" else 3 for target in targets}
    return [prepared, *(Step(f"fuzzing: {target}", [TESTS / "fuzz/run", "--build", build, "--seconds", str(seconds[target]), target],
                             "fuzzing", seconds[target] + 2, after=[prepared.name]) for target in targets)]


def model_steps(check, builds):
    more = ["--all"] if check == "all" else []
    return [Step("the protocol: every order of its steps", [TESTS / "model/run", *more], "model", 400 if more else 40),
            Step("the life of a VG: each step", [TESTS / "model/vg-state", "--build", builds.plain], "model", 40)]


def faults_step(check, builds):
    count = ["--all"] if check == "all" else ["--count", "420"]
    return Step("faults", [TESTS / "faults/run", "--build", builds.plain, *count], "faults", 300 if check == "all" else 60,
                after=[f"build {builds.plain.name}"])


def hostile_step(builds):
    return Step("hostile disks", [TESTS / "faults/hostile", "--build", builds.plain], "faults", 10, after=[f"build {builds.plain.name}"])


def cost_step(builds):
    return Step("cost of a VG", [TESTS / "faults/worker-cost", "--build", builds.plain], "faults", 5, after=[f"build {builds.plain.name}"])


def guest_steps(check, builds, release):
    """Scenarios, generated cases and benchmarks."""
    built = [f"build {builds.plain.name}"]
    steps = []
    for read in map(scenario.read, scenario.names()):
        for on in releases_of(read, check, release) if read.belongs_to(check) else []:
            command = [TESTS / "guest/run", read.name, "--build", builds.plain, "--suite", on, *PATIENCE,
                       *read.options_in(read.part_in(check, on))]
            needed = built
            # An installed system takes half a minute to make, beside others.
            if read.load == ALONE and read.root != "image":
                steps.append(Step(title(f"system of {read.name}", on, read.suite), [*command, "--prepare"], "scenarios", 40,
                                  after=built))
                needed = [steps[-1].name]
            steps.append(Step(title(f"guest: {read.name}", on, read.suite), command, "scenarios",
                              read.seconds_in(read.part_in(check, on)), read.load, after=needed))
    if check == "quick":
        return steps
    default = scenario.RELEASES[0]
    releases = [release] if release else scenario.RELEASES if check == "all" else [default]
    for on in releases:
        count = "16" if check != "all" else "200" if on == default else "50"
        steps.append(Step(title(f"generated cases: {count}", on, default),
                          [TESTS / "differential", "--build", builds.plain, "--suite", on, "--cases", count, *PATIENCE],
                          "cases", 30 + 3 * int(count), after=built))
    # Their bounds are meant for the default release.
    for name, benchmark in ((FULL if check == "all" else SHORT) if not release or release == default else {}).items():
        size = ["--full"] if check == "all" else []
        # The others have bounds that are not as wide, or two guests at once, or a guest with two processors.
        load = MEASURING if isinstance(benchmark, Bounded) and (check == "plain" or benchmark.wide) else ALONE
        steps.append(Step(f"benchmark: {name}", [TESTS / "bench/bounded", name, *size, "--build", builds.plain],
                          "benchmarks", benchmark.seconds, load, after=built))
    return steps


def releases_of(read, check, release):
    """With which a scenario runs in a part of test/check, or with which one of them."""
    if check == "quick":
        return [read.suite]
    wanted = [release] if release else scenario.RELEASES if check == "all" else read.releases
    return [on for on in wanted if read.runs_on(on) and (release or check != "all" or not is_in_plain(read, on))]


def is_in_plain(read, on):
    """Whether the plain check runs the same with the oldest release. With the others, each scenario is in "all"."""
    return (on == scenario.RELEASES[0] and read.belongs_to("plain") and on in read.releases and
            read.options_in("plain") == read.options_in("all"))


def with_needed(chosen, steps):
    """Add what the chosen steps need."""
    needed = {name for step in chosen for name in step.after}
    return [step for step in steps if step in chosen or step.name in needed]


def title(name, release, usual):
    return name if release == usual else f"{name} ({release})"
