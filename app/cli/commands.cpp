// Over 400 lines: the declarations of subcommands, and their one table.
// The table of subcommands, and the arguments of each.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "app/attach/session.h"
#include "app/cli/analyses.h"
#include "app/cli/arguments.h"
#include "app/cli/attach.h"
#include "app/cli/command_line.h"
#include "app/cli/diagnose.h"
#include "app/cli/diff.h"
#include "app/cli/info.h"
#include "app/cli/overview.h"
#include "app/cli/ranks_command.h"
#include "app/cli/screenshot.h"
#include "app/cli/serve.h"
#include "app/cli/sql.h"
#include "app/cli/subcommands.h"
#include "app/cli/time_argument.h"
#include "app/cli/trend.h"
#include "app/cli/whatif.h"
#include "app/mcp/server.h"
#include "app/window/run_window.h"

namespace gapscope {
namespace {

constexpr std::int64_t kMostId = 4'294'967'295, kMostPort = 65'535;

std::function<int()> declare_info(CLI::App& arguments) {
  auto options = std::make_shared<InfoOptions>();
  add_trace(arguments, options->trace);
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_flag("--stages", options->stages, "print the timeline of loading it: what each thread did when")
      ->excludes(json);
  return [options] { return info(*options); };
}

std::function<int()> declare_diff(CLI::App& arguments) {
  auto options = std::make_shared<DiffOptions>();
  arguments.add_option("A", options->a, "the trace before")->required();
  arguments.add_option("B", options->b, "the trace after")->required();
  arguments.add_option("MORE", options->more, "further traces: each against the baseline, as a table");
  add_capture(arguments);
  add_roofs(arguments);
  arguments.add_option("--baseline", options->baseline, "which of the traces the others are held against; A without it")
      ->type_name("FILE");
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_option("--html", options->html, "write a page for a browser, whole in one file")
      ->type_name("FILE")
      ->excludes(json);
  arguments
      .add_option_function<std::string>(
          "--step",
          [options](const std::string& text) {
            if (!read_step_choice(text, options->compare))
              throw CLI::ValidationError("--step", "\"" + text + "\" is no step: say a number, median or all.");
          },
          "whose kernels and operators are compared: the step of median CPU time, of this number, or all together")
      ->type_name("N|median|all")
      ->default_str("median");
  arguments.add_option("--annotation", options->compare.annotation,
                       "the user annotation that marks a step; without it, ProfilerStep#N");
  arguments
      .add_option_function<std::vector<std::string>>(
          "--fail-if",
          [options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto condition = read_condition(text);
              if (!condition.ok()) throw CLI::ValidationError("--fail-if", condition.error().message);
              options->fail_if.push_back(*condition);
            }
          },
          "end with 3 when B has changed so per step, or in use: \"gpu_busy>+5%\", \"idle>+50us\", \"launches>+2\", "
          "\"utilization<-5pp\"; or in what remedies would save of the run: \"gain>+5pp\", \"gain.RULE>+1pp\"")
      ->type_name("COND")
      ->expected(1)
      ->take_all();
  return [options] { return run_diff(*options); };
}

std::function<int()> declare_screenshot(CLI::App& arguments) {
  auto options = std::make_shared<ScreenshotOptions>();
  auto* trace = arguments.add_option("TRACE", options->traces,
                                     "the trace, a folder of ranks, or several files; without one, the start screen");
  arguments.add_option("--compare", options->compare, "a second trace, shown below it and compared with it")
      ->type_name("TRACE")
      ->needs(trace);
  add_capture(arguments);
  add_roofs(arguments);
  arguments.add_option("-o,--output", options->output, "the PNG to write")->required();
  arguments
      .add_option_function<std::string>(
          "--size",
          [options](const std::string& text) {
            const auto size = parse_size(text);
            if (!size.ok()) throw CLI::ValidationError("--size", size.error().message);
            std::tie(options->width, options->height) = *size;
          },
          "of the picture in pixels")
      ->type_name("WxH")
      ->default_str("1600x900");
  arguments.add_option("--scale", options->scale, "pixels per pixel of the design, as a display of that density")
      ->check(number_between(0.5, 4));
  arguments.add_option("--from", options->from, std::string("begin of the visible time: ") + kTimeHelp)->type_name("T");
  arguments.add_option("--to", options->to, "end of the visible time, likewise")->type_name("T");
  arguments.add_option("--select", options->select, "a slice's name, part of one, or its index");
  arguments.add_option("--tab", options->tab, "the panel to show below the lanes");
  arguments
      .add_option("--what-if", options->what_if,
                  "replay the trace with changes and show the GPUs as they would be: gpu F, host F, no-wait, graph, "
                  "overlap-copies, roofline, remove NAME, plan (its first remedy), separated by ;")
      ->type_name("CHANGES")
      ->needs(trace);
  arguments.add_flag("--path", options->path, "show the critical path")->needs(trace);
  arguments
      .add_option("--layout", options->layout, "write what the picture shows as JSON: rows, texts and panels with their boxes")
      ->type_name("FILE");
  arguments.add_option("--finding", options->finding, "a rule's id (see diagnose): show its costliest finding")
      ->type_name("RULE");
  arguments
      .add_option_function<std::string>(
          "--theme",
          [options](const std::string& text) {
            if (text != "dark" && text != "light")
              throw CLI::ValidationError("--theme", "\"" + text + "\" is no theme: say dark or light.");
            options->theme = text == "light" ? ThemeName::light : ThemeName::dark;
          },
          "dark or light")
      ->default_str("dark");
  return [options] { return screenshot(*options); };
}

std::function<int()> declare_overview(CLI::App& arguments) {
  auto options = std::make_shared<OverviewOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_option("--html", options->html, "write a page for a browser, whole in one file")
      ->type_name("FILE")
      ->excludes(json);
  return [options] { return overview(*options); };
}

std::function<int()> declare_diagnose(CLI::App& arguments) {
  auto options = std::make_shared<DiagnoseOptions>();
  add_trace(arguments, options->trace);
  add_roofs(arguments);
  arguments.add_flag("--json", options->json, "print JSON");
  arguments.add_flag("--all", options->all, "explain this trace: every note, also those that teach to read it");
  arguments
      .add_option_function<std::vector<std::string>>(
          "--fail-on",
          [options](const std::vector<std::string>& words) {
            if (const std::string trouble = unknown_rule_sentence(words); !trouble.empty())
              throw CLI::ValidationError("--fail-on", trouble);
            options->fail_on = words;
          },
          "end with exit code 3 when one of these rules has a finding; costly: any costly one; gain>5%: a remedy would "
          "save more than that of the run")
      ->delimiter(',')
      ->type_name("RULE[,RULE]|costly|gain>N%");
  return [options] { return run_diagnose(*options); };
}

// An option of `whatif` adds a change to the list, in the order of the command line.
void add_change(CLI::App& arguments, const std::shared_ptr<WhatIfOptions>& options, const std::string& word, const char* type,
                const char* about) {
  const auto add = [options, word](const std::string& value) { options->changes.push_back(word + " " + value); };
  arguments.add_option_function<std::string>("--" + word, add, about)->type_name(type)->trigger_on_parse();
}
void add_change(CLI::App& arguments, const std::shared_ptr<WhatIfOptions>& options, const std::string& word,
                const char* about) {
  arguments.add_flag_callback(
      "--" + word, [options, word] { options->changes.push_back(word); }, about);
}

std::function<int()> declare_whatif(CLI::App& arguments) {
  auto options = std::make_shared<WhatIfOptions>();
  arguments.add_option("TRACE", options->traces, "the trace, - for standard input; or those of several ranks, or their folder")
      ->required()
      ->type_name("FILE|DIR...");
  add_capture(arguments);
  add_roofs(arguments);
  add_change(arguments, options, "gpu", "F", "GPU work takes F times as long: 0.5 is a GPU twice as fast");
  add_change(arguments, options, "kernel", "RE=F", "so does GPU work whose whole name matches a regular expression (RE2)");
  add_change(arguments, options, "host", "F", "the host takes F times as long");
  add_change(arguments, options, "remove", "NAME", "slices of this name take no host time; a * in it stands for any text");
  add_change(arguments, options, "no-wait", "the host never waits for the GPU");
  add_change(arguments, options, "graph", "the launches of a step are replayed as one graph");
  add_change(arguments, options, "overlap-copies", "copies do not hold up the work that follows them");
  add_change(
      arguments, options, "full-queues",
      "launches that found their queue full return when it has room, as findings suppose; else they take the time they took");
  add_change(arguments, options, "rank", "R", "of several ranks: this one is never late, so that nobody waits for it");
  add_change(arguments, options, "link", "N",
             "of several ranks: their links move N GB/s (2^30 bytes, bus bandwidth as gapscope ranks prints it)");
  add_change(arguments, options, "on", "R", "of several ranks: the changes after it are those of rank R alone");
  arguments
      .add_flag("--roofline{1}", options->roofline,
                "kernels last as long as their floor (see gapscope roofline); --roofline=0.8: they reach that share of it")
      ->check(number_between(0.01, 1));
  arguments.add_flag("--path", options->path, "what holds the run back at each moment, and what that adds up to by name");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return whatif(*options); };
}

std::function<int()> declare_mcp(CLI::App& arguments) {
  auto options = std::make_shared<McpOptions>();
  arguments.add_option("FOLDER", options->folders, "only traces below these folders are opened")->required();
  arguments.footer(
      "Speaks the Model Context Protocol on standard input and output. Each tool answers with the --json of a command.");
  return [options] {
    options->executable = own_path();
    return run_mcp(*options);
  };
}

std::function<int()> declare_serve(CLI::App& arguments) {
  auto options = std::make_shared<ServeOptions>();
  arguments.add_option("FOLDER", options->folder, "the folder whose recordings are served, with all below it")
      ->capture_default_str();
  arguments.add_option("--port", options->port, "where to listen; 0 takes any that is free")
      ->check(whole_number(0, kMostPort))
      ->capture_default_str();
  arguments.add_option("--bind", options->bind, "at which address of this machine; 0.0.0.0: at all of them")
      ->type_name("ADDRESS")
      ->capture_default_str();
  arguments.footer(
      "Prints an address for a browser; from elsewhere it is reached by the ssh line that is printed, too. Reads only, and "
      "only\n"
      "recordings (.json, .json.gz, .json.xz, .json.zst) below FOLDER. Ctrl+C ends it.");
  return [options] {
    options->executable = own_path();
    return serve(*options);
  };
}

// "step>1.3x": 1.3; 0: not of that form.
double slower_than(const std::string& text) {
  constexpr std::string_view kBegin = "step>";
  double times = 0;
  if (text.compare(0, kBegin.size(), kBegin) != 0 || text.back() != 'x') return 0;
  const auto [end, wrong] = std::from_chars(text.data() + kBegin.size(), text.data() + text.size() - 1, times);
  return wrong == std::errc() && end == text.data() + text.size() - 1 && times > 0 && times < 1e6 ? times : 0;
}

std::function<int()> declare_attach(CLI::App& arguments) {
  auto options = std::make_shared<AttachOptions>();
  auto* pid = arguments.add_option("--pid", options->pid, "the program, or a parent of it (torchrun): all below it")
                  ->type_name("N")
                  ->check(whole_number(1, kMostId));
  auto* job = arguments.add_option("--job", options->job, "all programs of this Slurm job on this machine")
                  ->type_name("ID")
                  ->check(whole_number(1, kMostId))
                  ->excludes(pid);
  arguments.add_flag("--all", options->all, "all programs that ask, together: the ranks of a run")
      ->excludes(pid)
      ->excludes(job);
  arguments.add_flag("--list", options->list, "print who asks, and record nothing");
  const auto seconds = [&arguments](const char* name, Ns& value, const char* help, double most) {
    return arguments
        .add_option_function<double>(
            name, [&value](double s) { value = static_cast<Ns>(s * 1e9); }, help)
        ->type_name("S")
        ->check(number_between(0.001, most));
  };
  auto* duration = seconds("--seconds", options->capture.duration, "how long to record; 0.5 without it", 600);
  arguments
      .add_option("--iterations", options->capture.iterations,
                  "steps to record instead, counted by optimizer.step() or the profiler's step()")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->excludes(duration);
  arguments.add_flag("--shapes", options->capture.shapes, "with the shapes of operators' inputs");
  arguments.add_flag("--memory", options->capture.memory, "with allocations");
  arguments.add_flag("--stacks", options->capture.stacks,
                     "with Python's frames and modules; slows the program down while it records");
  arguments.add_option("-o,--output", options->folder, "the folder to write to; it is made")->type_name("FOLDER");
  seconds("--wait", options->wait, "how long to wait for a program; until Ctrl+C without it", 1e6);
  auto* watch =
      seconds("--watch", options->every, "record again every so many seconds, a folder each time, and print how it went", 1e6);
  arguments.add_option("--max-mb", options->max_mb, "of --watch: remove the oldest recordings past this size")
      ->type_name("N")
      ->check(whole_number(0, kMostMb))
      ->needs(watch);
  arguments
      .add_option_function<std::string>(
          "--when",
          [options](const std::string& text) {
            options->slower = slower_than(text);
            if (options->slower == 0)
              throw CLI::ValidationError("--when", "\"" + text + "\" is no condition: write for example \"step>1.3x\".");
          },
          "of --watch: keep only recordings whose median step is so many times that of those before: \"step>1.3x\"")
      ->type_name("COND")
      ->needs(watch);
  arguments.add_flag("--no-open", options->no_open, "do not open the window afterwards");
  arguments.footer(attach::kHowToStart);
  return [options] {
    options->executable = own_path();
    return attach_to_programs(*options);
  };
}

std::function<int()> declare_trend(CLI::App& arguments) {
  auto options = std::make_shared<TrendOptions>();
  arguments.add_option("FOLDER", options->folder, "a folder of recordings, as --watch of gapscope attach makes it")->required();
  auto* json = arguments.add_flag("--json", options->json, "print JSON: nanoseconds");
  arguments.add_flag("--csv", options->csv, "print CSV: nanoseconds")->excludes(json);
  return [options] { return trend(*options); };
}

template <AnalysisText analysis>
std::function<int()> declare_analysis(CLI::App& arguments) {
  auto options = std::make_shared<AnalysisOptions>();
  add_trace(arguments, options->trace);
  if (analysis == &flops_report || analysis == &counters_report) add_roofs(arguments);
  if (analysis == &steps_report)
    arguments.add_option("--annotation", options->annotation,
                         "the user annotation that marks a step; without it, ProfilerStep#N");
  arguments.add_flag("--json", options->json, "print JSON");
  return [options] { return run_analysis(*options, analysis); };
}

std::function<int()> declare_sql(CLI::App& arguments) {
  auto options = std::make_shared<SqlOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  arguments
      .add_option("TRACE", *words,
                  "the trace; - for standard input; a folder or several files: ranks of one run. Behind it the query: "
                  "statements, separated by semicolons; - for standard input; without any, a prompt")
      ->required()
      ->type_name("TRACE... [QUERY]");
  add_capture(arguments);
  add_roofs(arguments);
  auto* query = arguments.add_option("--query", options->query, "the query, where it must not be taken for a file's name")
                    ->type_name("QUERY");
  arguments.add_option("--file", options->file, "a file of statements")->type_name("Q.sql")->excludes(query);
  arguments.add_option("--time-limit", options->time_limit_s, "seconds after which the statements are ended; 0 for none")
      ->check(number_between(0, kMostSeconds))
      ->capture_default_str();
  auto* csv = arguments.add_flag_callback(
      "--csv", [options] { options->format = SqlFormat::csv; }, "print CSV");
  arguments
      .add_flag_callback(
          "--json", [options] { options->format = SqlFormat::json; }, "print JSON: columns and rows, one object a statement")
      ->excludes(csv);
  arguments.footer(
      "Tables as in Perfetto (slice, thread, process, args, flow, ...) and Gapscope's own (kernel, gpu_gap, step, ...).\n"
      ".tables and .schema, as QUERY or at the prompt, tell what there is. Times are nanoseconds.");
  return [options, words] {
    take_words(*words, *options);
    return run_sql(*options);
  };
}

constexpr Subcommand kSubcommands[] = {
    {"info", "print what is in a trace", declare_info},
    {"overview", "print how a run is on one page: steps, account, use of the GPU, what to do first; --html FILE to mail it",
     declare_overview},
    {"diagnose", "print what costs time, what proves it and what to do", declare_diagnose},
    {"why", "print where each nanosecond of each GPU went: compute, communication, copies, and why it stood still",
     declare_why},
    {"whatif",
     "replay the trace with a change: what a faster kernel, a wait less or a graph would give; without one, what to do",
     declare_whatif},
    {"diff", "compare two traces: did a change help, and why", declare_diff},
    {"ranks", "compare the ranks of one run: which one is late, and what the others wait for", declare_ranks},
    {"table", "print the profiler table, as PyTorch's key_averages() does", declare_table},
    {"kernels", "print GPU work by name: times, shapes, occupancy, what the names tell", declare_kernels},
    {"modules", "print GPU and host time by nn.Module, forward and backward", declare_modules},
    {"compile", "print what torch.compile's code did: pieces, graph breaks, guards, recompilations, generated kernels",
     declare_analysis<compile_report>},
    {"gpu", "print how busy each GPU is, and why it stands still", declare_analysis<gpu_report>},
    {"steps", "print where each step's time goes", declare_analysis<steps_report>},
    {"launches", "print how launches, queues and kernels follow each other", declare_analysis<launches_report>},
    {"flops", "print operations, rates and shares of the peak by operator and shapes", declare_analysis<flops_report>},
    {"roofline", "print how long each operator had to take by its shapes, what it reached of that, and the headroom",
     declare_roofline},
    {"counters", "print what the GPU's counters say of it and of each kernel: tensor-bound, memory-bound or neither",
     declare_analysis<counters_report>},
    {"memory", "print peak memory and who allocates it", declare_analysis<memory_report>},
    {"sql", "ask anything in SQL: tables of slices, kernels, gaps, steps and more", declare_sql},
    {"mcp", "serve traces to assistants: the Model Context Protocol on standard input and output", declare_mcp},
    {"serve", "serve the recordings of a folder to a browser: each one's overview, the ranks of a run, two compared",
     declare_serve},
    {"record", "run a CUDA program with the recorder inside, and open its trace", declare_record},
    {"attach", "record a PyTorch program that is already running, or all ranks of one, and open the trace", declare_attach},
    {"trend", "print how step time and GPU use went over recordings made one after another, and which rank was late",
     declare_trend},
    {"crop", "write a part of a trace as a trace of its own", declare_crop},
    {"merge-counters", "put the counters of a recording into PyTorch's trace of the same time", declare_merge_counters},
    {"screenshot", "render the window into a PNG, with or without a display", declare_screenshot},
};

}  // namespace

std::span<const Subcommand> subcommands() { return kSubcommands; }

std::function<int()> declare_window(CLI::App& arguments) {
  auto options = std::make_shared<WindowRun>();
  auto* trace = arguments.add_option("TRACE", options->files,
                                     "the trace to open, a folder of ranks, or several files: ranks of one run, or two traces "
                                     "to compare; without one, the start screen");
  arguments.add_option("--compare", options->second, "a second trace to compare it with")->type_name("TRACE")->needs(trace);
  return [options] {
    options->executable = own_path();
    const char* state_file = std::getenv("GAPSCOPE_STATE_FILE");  // see app/state/state_file.h
    options->state_file = state_file ? state_file : "";
    return run_window(*options);
  };
}

}  // namespace gapscope
