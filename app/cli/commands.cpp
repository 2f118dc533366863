// The table of subcommands.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "app/cli/analyses.h"
#include "app/cli/arguments.h"
#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "app/cli/subcommands.h"
#include "app/mcp/server.h"
#include "app/window/run_window.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

std::function<int()> declare_mcp(CLI::App& arguments) {
  auto options = std::make_shared<McpOptions>();
  arguments.add_option("FOLDER", options->folders, "only traces below these folders are opened")->required();
  add_sources(arguments, options->sources);
  arguments.footer(
      "Speaks the Model Context Protocol on standard input and output. Each tool answers with the --json of a command.");
  return [options] {
    options->executable = own_path();
    return run_mcp(*options);
  };
}

int run_analysis(const AnalysisOptions& options, AnalysisText analysis) {
  const std::shared_ptr<const Trace> trace = load_or_say_why(options.trace);
  if (!trace) return kBadInput;
  const TraceSession session(trace);
  return print((options.json ? "" : doubts_line(session)) + analysis(session, options));
}

template <AnalysisText analysis>
std::function<int()> declare_analysis(CLI::App& arguments) {
  auto options = std::make_shared<AnalysisOptions>();
  add_trace(arguments, options->trace);
  if (analysis == &flops_report || analysis == &counters_report) add_roofs(arguments);
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] {
    options->annotation = trace_arguments().stated.steps;
    return run_analysis(*options, analysis);
  };
}

std::function<int()> declare_memory(CLI::App& arguments) {
  auto options = std::make_shared<AnalysisOptions>();
  add_trace(arguments, options->trace);
  arguments.add_flag("--json", options->json, "print JSON");
  return [options]() -> int {
    const std::shared_ptr<const Trace> trace = load_or_say_why(options->trace);
    if (!trace) return kBadInput;
    const Document document(trace);
    document.analyze();
    return print((options->json ? "" : doubts_line(document.session)) + memory_report(document, *options));
  };
}

constexpr Subcommand kSubcommands[] = {
    {"info", "print what is in a trace", declare_info},
    {"overview", "print a run on one page: verdict, steps, GPU use, what to do first; --html FILE to mail it",
     declare_overview},
    {"diagnose", "print findings: what costs time, the evidence, what to do", declare_diagnose},
    {"why", "print where each GPU's time went: compute, communication, copies, and the causes of idle time", declare_why},
    {"whatif",
     "replay the trace with a change: faster kernels, no synchronizations, a CUDA graph; without a change, print the remedies",
     declare_whatif},
    {"diff", "compare two traces: did a change help, and why", declare_diff},
    {"ranks", "compare the ranks of one run: which one is late, and what the others wait for", declare_ranks},
    {"table", "print the profiler table, as PyTorch's key_averages() does", declare_table},
    {"kernels", "print GPU work by name: times, shapes, occupancy, decoded names", declare_kernels},
    {"modules", "print GPU and host time by nn.Module, forward and backward", declare_modules},
    {"compile", "print torch.compile's functions: graph breaks, guards, recompilations, generated kernels",
     declare_analysis<compile_report>},
    {"gpu", "print how busy each GPU is, and why it is idle", declare_analysis<gpu_report>},
    {"steps", "print where each step's time goes", declare_analysis<steps_report>},
    {"launches", "print how launches, queues and kernels follow each other", declare_analysis<launches_report>},
    {"flops", "print operations, rates and shares of the peak by operator and shapes", declare_analysis<flops_report>},
    {"roofline", "print the roofline of each operator: the least time for its shapes, the share reached, the headroom",
     declare_roofline},
    {"counters", "print hardware counters of the GPU and of each kernel: tensor-bound, memory-bound or neither",
     declare_analysis<counters_report>},
    {"memory", "print peak memory, what holds it then, and what allocates", declare_memory},
    {"snapshot", "print what holds GPU memory in a memory snapshot of PyTorch, the peak, and why an allocation failed",
     declare_snapshot},
    {"sql", "query a trace in SQL: tables of slices, kernels, gaps, steps and more", declare_sql},
    {"mcp", "serve traces to assistants: the Model Context Protocol on standard input and output", declare_mcp},
    {"serve", "serve the recordings of a folder to a browser: each one's overview, the ranks of a run, two compared",
     declare_serve},
    {"record", "run a CUDA program with the recorder inside, and open its trace", declare_record},
    {"attach", "record a PyTorch program that is already running, or all ranks of one, and open the trace", declare_attach},
    {"trend", "print step time, GPU use and the late rank over a series of recordings", declare_trend},
    {"crop", "write a part of a trace as a separate trace", declare_crop},
    {"merge-counters", "put the counters of a recording into PyTorch's trace of the same time", declare_merge_counters},
    {"screenshot", "render the window into a PNG, with or without a display", declare_screenshot},
    {"help", "print a page of the guide, or of a rule or a command; without TOPIC, the list of pages", declare_help},
};

}  // namespace

std::span<const Subcommand> subcommands() { return kSubcommands; }

std::function<int()> declare_window(CLI::App& arguments) {
  auto options = std::make_shared<WindowRun>();
  auto* trace = arguments.add_option("TRACE", options->files,
                                     "the trace to open, a folder of ranks, or several files: ranks of one run, or two traces "
                                     "to compare; without one, the start screen");
  arguments.add_option("--compare", options->second, "a second trace to compare it with")->type_name("TRACE")->needs(trace);
  add_steps(arguments);
  return [options] {
    options->stated = trace_arguments().stated;
    options->stated.as_recorded = false;
    options->executable = own_path();
    const char* state_file = std::getenv("GAPSCOPE_STATE_FILE");  // see app/state/state_file.h
    options->state_file = state_file ? state_file : "";
    return run_window(*options);
  };
}

}  // namespace gapscope
