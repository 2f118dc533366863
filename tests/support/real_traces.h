#pragma once
// The real recordings that tests walk over. Those of this project lie in tests/recordings and assets/traces and are always
// there: a missing one fails the test that wants it. Recordings by others are used where ../shared holds them, and a test that
// needs one of these says so and passes without.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace.h"
#include "tests/support/source_folder.h"

namespace gapscope::test {

// With what is known to be true of them: truth*.json, NAME.table.csv (key_averages() as rows), NAME.table.txt (as PyTorch
// prints it).
std::filesystem::path recordings_folder();

std::filesystem::path shared_folder();

bool has_shared(const char* test);

std::vector<std::filesystem::path> traces_in(const std::filesystem::path& folder);

// Every recording at hand, each once, in a fixed order.
const std::vector<std::filesystem::path>& real_traces();

// The recording called `name` ("fsdp_rank0", with or without .json, .json.gz, .json.xz); empty when it is one by others that is
// not here.
std::filesystem::path recording_or_none(const std::string& name);

// The same for a recording of this project.
std::filesystem::path recording(const std::string& name);

// What it holds, read once a process however many tests ask: nothing can change it. One that cannot be read fails the test.
// What belongs to who asks is made of it anew: a Document holds the answers to the questions of its panels.
std::shared_ptr<const Trace> load_once(const std::filesystem::path& path);
// One of its own, to be judged as the plain program, whose step takes `step_time` where that is given.
std::shared_ptr<const Trace> load_plain(const std::filesystem::path& path, std::optional<StepTime> step_time = {});

// What is known about a recording is in tests/recordings or alongside it: NAME + ending; empty when nothing is.
std::filesystem::path oracle_of(const std::filesystem::path& recording, const std::string& ending);

}  // namespace gapscope::test
