// gapscope-mpi ranks DIR|FILES...: what `gapscope ranks` does, with the files read by all processes of `mpirun -n N`. A program
// of its own, so that the viewer does not link MPI.
#include <cstdio>
#include <string>
#include <vector>

#include <mpi.h>
#include <CLI/CLI.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/ranks.h"
#include "app/mpi/mpi_reader.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace {

using namespace gapscope;

// On process 0. An exception must end all processes, or the others wait for ever.
int lead(const RanksOptions& options) {
  RanksOutput answer;
  {
    MpiReader reader(trace_arguments().stated);
    answer = ranks_answer(options, reader);
  }
  std::fputs(answer.trouble.c_str(), stderr);
  const int printed = answer.text.empty() ? kOk : print(answer.text);
  return printed == kOk ? answer.code : printed;
}

int run(int process, const RanksOptions& options) {
  try {
    if (process == 0) return lead(options);
    serve_mpi_reader(trace_arguments().stated);
    return kOk;
  } catch (...) {
    say_on_stderr(current_failure("continue").message);
    MPI_Abort(MPI_COMM_WORLD, kBadInput);
    return kBadInput;
  }
}

}  // namespace

int main(int argc, char** argv) {
  end_with_a_sentence_when_memory_ends();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  CLI::App app("Compares the ranks of one run on many processes: mpirun -n N gapscope-mpi ranks DIR", "gapscope-mpi");
  app.require_subcommand(1);
  CLI::App* command = app.add_subcommand("ranks", "which rank is late, and what the others wait for");
  const auto options = declare_ranks_options(*command);
  int code = kOk;
  try {
    app.parse(argc, argv);
    code = run(process, *options);
  } catch (const CLI::ParseError& error) {  // every process finds the same
    if (error.get_exit_code() != 0) code = kUsage;
    if (process == 0 && error.get_exit_code() == 0) app.exit(error);
    if (process == 0 && code == kUsage) std::fprintf(stderr, "gapscope-mpi: %s\n", printable(error.what()).c_str());
  }
  MPI_Finalize();
  return code;
}
