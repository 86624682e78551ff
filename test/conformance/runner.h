// The modes of berth-conformance. Each prints "WHAT matched N/M" per group and
// the first differences with both sides, and returns the process exit code: 0
// all matched, 1 differences, 2 the input could not be read. `minor` is the
// Kubernetes minor of the recording.
#pragma once

#include <string>

namespace berth::conformance {

// Scheduling decisions: cases and expected results as JSON lines. `results`
// (may be empty): where to write ours.
int RunCases(int minor, const std::string& cases, const std::string& expected,
             const std::string& results);

// Explanations of the same cases: they agree with what is decided, and every
// suggestion works.
int RunExplanations(int minor, const std::string& cases);

// Quantities, selectors, pod requests and other values.
int RunValues(int minor, const std::string& file);

// KubeSchedulerConfiguration documents: errors, defaulted form, plugin lists.
int RunConfig(int minor, const std::string& file);

// Events: what plugins register for, what matches, what is derived from
// updates, the answers of queueing hints and what the queue makes of them.
int RunHints(int minor, const std::string& file);

// Score and queue sort plugins of scheduler-plugins, one at a time.
int RunScores(const std::string& file);

// Admission by a kubelet's managers, as accuracy Exact replays it.
int RunAdmissions(const std::string& file);

// Runs of Coscheduling, step by step.
int RunGangs(const std::string& file);

}  // namespace berth::conformance
