#pragma once
// A command of this program run as a process of its own: what it prints is what a person would get, and what goes wrong in it
// goes wrong there. It reads traces below some folders alone, whatever was put in the place of one since its words were made:
// it inherits them opened.
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/readable_folders.h"
#include "core/base/result.h"

namespace gapscope {

struct ChildResult {
  int exit_code = 0;
  std::string out;
  std::string error;  // what it said on stderr, without the program's name and the last line's end
};

// So much that all calls that run at once fit into half of the machine's memory, or of the memory of the group of processes
// that this one belongs to; but no less than what a picture takes.
std::uint64_t memory_of_a_call();

struct ChildLimits {
  std::size_t most_bytes = std::size_t{64} << 20;  // of its output
  std::chrono::seconds time{120};
  std::uint64_t memory_bytes = memory_of_a_call();
};

// Runs `program` with `arguments`, standard input closed. An Error where it cannot be started, takes longer or prints more.
// What it says of too little memory is followed by how much it may take. It ends when `stop` says so, and with the thread that
// runs it.
Result<ChildResult> run_child(const std::string& program, const ReadableFolders& folders,
                              const std::vector<std::string>& arguments, const ChildLimits& limits = {},
                              const std::stop_token& stop = {});

// In that process: takes the folders off the front of its words, and confines reading to them. What is no word of ours stays.
std::optional<Error> confine_as_asked(std::vector<std::string>& arguments);

}  // namespace gapscope
