// One operation again and again, each time with another request for memory that fails, until it comes to its end: it must say
// that memory is short, or succeed; never hang, never take the program with it. Usage:
//   gapscope_failure_tests OPERATION [EVERY [TRACE]]
//   gapscope_failure_tests SCENARIO
// EVERY: only each so many-th request; TRACE: of that file instead of a tiny one.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <unistd.h>

#include "core/base/failure.h"
#include "tests/failure/failing_system.h"
#include "tests/failure/operations.h"
#include "tests/failure/scenarios.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr unsigned kPatienceSeconds = 60;
constexpr int kUndisturbedToEnd = 3;  // threads take turns: how many requests there are differs a little from run to run

const char* g_name = "";
std::uint64_t g_n = 0;

void hangs(int) {
  char line[200];
  const int size =
      std::snprintf(line, sizeof line, "%s hangs when request %llu fails\n", g_name, static_cast<unsigned long long>(g_n));
  (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(size));
  std::_Exit(3);
}

bool says_memory(const std::string& sentence) { return sentence.find("memory") != std::string::npos; }

struct Tally {
  std::uint64_t runs = 0, said = 0, wrong = 0;
};

void run_one(const Operation& operation, std::uint64_t n, Then then, Tally& tally, int& undisturbed) {
  g_n = n;
  ::alarm(kPatienceSeconds);
  std::optional<Error> trouble;
  bool disturbed = false;
  {
    const MemoryFailsAt fails(n, then);
    try {
      trouble = operation.run();
    } catch (...) {
      trouble = current_failure("do that");
    }
    disturbed = MemoryFailsAt::requests() >= n;
  }
  ++tally.runs;
  undisturbed = disturbed ? 0 : undisturbed + 1;
  if (operation.wrong) {
    if (const auto wrong = operation.wrong(!trouble)) {
      ++tally.wrong;
      std::fprintf(stderr, "%s: request %llu: %s\n", g_name, static_cast<unsigned long long>(n), wrong->message.c_str());
    }
  }
  if (!trouble) return;
  ++tally.said;
  if (says_memory(trouble->message) && disturbed) return;
  ++tally.wrong;
  std::fprintf(stderr, "%s: request %llu: \"%s\"\n", g_name, static_cast<unsigned long long>(n), trouble->message.c_str());
}

int sweep(const std::string& name, const Operation& operation, std::uint64_t every) {
  g_name = name.c_str();
  if (const auto trouble = operation.run()) {  // what is worked out once and cached
    std::fprintf(stderr, "%s does not work at all: %s\n", g_name, trouble->message.c_str());
    return 1;
  }
  Tally tally;
  for (const Then then : {Then::goes_on, Then::stays_out}) {
    int undisturbed = 0;
    for (std::uint64_t n = 1; undisturbed < kUndisturbedToEnd && tally.wrong < 10; n += every)
      run_one(operation, n, then, tally, undisturbed);
  }
  std::printf("%s: %llu runs, %llu said so, %llu wrong\n", g_name, static_cast<unsigned long long>(tally.runs),
              static_cast<unsigned long long>(tally.said), static_cast<unsigned long long>(tally.wrong));
  return tally.wrong == 0 && tally.said > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGALRM, hangs);
  const std::string name = argc > 1 ? argv[1] : "";
  const std::uint64_t every = argc > 2 ? std::max(1ULL, std::strtoull(argv[2], nullptr, 10)) : 1;
  const std::string trace = argc > 3 ? argv[3] : "";
  if (const auto scenario = scenarios().find(name); scenario != scenarios().end()) {
    g_name = name.c_str();
    ::alarm(kPatienceSeconds);
    const auto wrong = scenario->second();
    if (wrong) std::fprintf(stderr, "%s: %s\n", g_name, wrong->message.c_str());
    std::_Exit(wrong ? 1 : 0);  // threads may have been left behind
  }
  const auto found = operations().find(name);
  if (found == operations().end()) {
    std::fprintf(stderr, "Name one of:");
    for (const auto& [known, make] : operations()) std::fprintf(stderr, " %s", known.c_str());
    for (const auto& [known, run] : scenarios()) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  return sweep(name, found->second(trace), every);
}
