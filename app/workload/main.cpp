#include <cstdio>
#include <new>

#include "app/workload/command_line.h"
#include "app/workload/failure.h"
#include "app/workload/gpu/run.h"

namespace gapscope::workload {
namespace {

constexpr int kFailed = 1;

int say(const Answer& answer) {
  std::fputs(answer.text.c_str(), answer.exit_code == 0 ? stdout : stderr);
  return answer.exit_code;
}

int run_and_say(const Options& options) {
  try {
    std::printf("%s\n", run(options).c_str());
    return 0;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "gapscope-workload: %s\n", failure.what());
    return kFailed;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "gapscope-workload: There is not enough memory for data of this size: try a smaller --size or --batch.\n");
    return kFailed;
  }
}

}  // namespace
}  // namespace gapscope::workload

int main(int argc, char** argv) {
  using namespace gapscope::workload;
  const auto parsed = parse_command_line({argv + 1, argv + argc});
  if (const Answer* answer = std::get_if<Answer>(&parsed)) return say(*answer);
  return run_and_say(std::get<Options>(parsed));
}
