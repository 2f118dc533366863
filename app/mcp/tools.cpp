#include "app/mcp/tools.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/mcp/child.h"
#include "app/mcp/page.h"
#include "core/base/base64.h"
#include "core/base/parse_json.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostTraces = 500;

// How an argument of a tool becomes words of the command line.
struct Argument {
  enum class Kind { trace, traces, text, query, number, flag };
  const char* name;
  Kind kind;
  bool required;
  const char* option;  // "--limit"; empty: by its place
  const char* meaning;
};
using Kind = Argument::Kind;

struct Tool {
  const char* name;
  const char* command;  // of the program
  const char* always;   // what is always added; empty: nothing
  const char* description;
  std::span<const Argument> arguments;
};

constexpr Argument kTrace = {"trace", Kind::trace, true, "", "the trace: a path below the server's folders"};
constexpr Argument kInfo[] = {kTrace};
constexpr Argument kOpen[] = {{"trace", Kind::trace, false, "", "the trace; default: list the available traces"}};
constexpr Argument kWhy[] = {
    kTrace,
    {"device", Kind::number, false, "--device", "only this GPU"},
    {"range", Kind::text, false, "--range", "FROM:TO, each in nanoseconds of the trace, or such as 1.2ms from its start"},
    {"by_step", Kind::flag, false, "--by-step", "also the account of each step"}};
constexpr Argument kWhatIf[] = {
    kTrace,
    {"on", Kind::number, false, "--on", "with several ranks: change only this rank"},
    {"gpu", Kind::text, false, "--gpu", "multiply the time of GPU work by this factor: 0.5 is a GPU twice as fast"},
    {"kernel", Kind::text, false, "--kernel",
     "RE=F: multiply the time of GPU work by F where the regular expression RE matches its whole name"},
    {"host", Kind::text, false, "--host", "multiply the host's time by this factor"},
    {"remove", Kind::text, false, "--remove", "slices with this name take no host time; * matches any text"},
    {"no_wait", Kind::flag, false, "--no-wait", "remove all synchronizations of the host with the GPU"},
    {"graph", Kind::flag, false, "--graph", "replay the launches of a step as one CUDA graph"},
    {"overlap_copies", Kind::flag, false, "--overlap-copies", "copies do not delay the work after them"},
    {"full_queues", Kind::flag, false, "--full-queues",
     "model launch-queue back-pressure: a launch into a full queue returns when it has room; default: as long as recorded"},
    {"roofline", Kind::flag, false, "--roofline", "kernels reach their roofline, by their recorded shapes"},
    {"others", Kind::traces, false, "",
     "the traces of the other ranks: all are replayed together, and a collective begins when the last rank arrives"},
    {"rank", Kind::number, false, "--rank", "with several ranks: this rank is never late"},
    {"link", Kind::text, false, "--link", "with several ranks: bus bandwidth of their links, in GB/s (2^30 bytes)"},
    {"path", Kind::flag, false, "--path", "the bottleneck at each time, and sums by name"}};
constexpr Argument kTable[] = {
    kTrace,
    {"sort", Kind::text, false, "--sort", "a column as PyTorch names it: self_cuda_time_total, cpu_time_total, ..."},
    {"limit", Kind::number, false, "--limit", "the maximum number of rows"}};
constexpr Argument kKernels[] = {kTrace,
                                 {"sort", Kind::text, false, "--sort", "total, mean, count, max or cv"},
                                 {"limit", Kind::number, false, "--limit", "the maximum number of rows"}};
constexpr Argument kSteps[] = {kTrace,
                               {"annotation", Kind::text, false, "--steps",
                                "the annotation that marks a step: its name, or a regular expression; default: ProfilerStep#N, "
                                "else annotations that recur like steps"}};
constexpr Argument kSql[] = {
    kTrace,
    {"others", Kind::traces, false, "",
     "the traces of the other ranks: the tables rank and collective cover all of them, the other tables only the lowest rank"},
    {"query", Kind::query, true, "--query",
     "statements, separated by semicolons. Times are in nanoseconds. gapscope://sql/schema lists tables and columns with their "
     "units"}};
constexpr Argument kDiff[] = {{"before", Kind::trace, true, "", "the trace before"},
                              {"after", Kind::trace, true, "", "the trace after"},
                              {"step", Kind::text, false, "--step", "a number, median or all"}};
constexpr Argument kRanks[] = {
    {"traces", Kind::traces, true, "", "the ranks' traces, one per rank, or folders with them"},
    {"align", Kind::text, false, "--align",
     "how to align the clocks: collectives (by the ends of collectives, the default), base (as the files state them) or none"}};
constexpr Argument kScreenshot[] = {kTrace,
                                    {"from", Kind::text, false, "--from",
                                     "start of the visible time: nanoseconds of the trace, or such as 1.2ms from its start"},
                                    {"to", Kind::text, false, "--to", "end of the visible time, in the same form"},
                                    {"select", Kind::text, false, "--select", "a slice's name, or a part of it"},
                                    {"finding", Kind::text, false, "--finding", "a rule's id: show its most expensive finding"},
                                    {"tab", Kind::text, false, "--tab", "the panel below the lanes"},
                                    {"size", Kind::text, false, "--size", "WIDTHxHEIGHT in pixels"}};

constexpr Argument kSnapshot[] = {
    {"trace", Kind::trace, true, "", "the snapshot, a pickle: a path below the server's folders"},
    {"at", Kind::text, false, "--at", "the number of an event, peak or oom; default: the time of the snapshot"},
    {"device", Kind::number, false, "--device", "only this GPU"}};

constexpr Tool kTools[] = {
    {"open", "info", "--json",
     "The content of a trace: lanes, slices, devices, steps, problems of the file. Times in ns, sizes in bytes. Without a "
     "trace: the available traces.",
     kOpen},
    {"info", "info", "--json", "The same as open, for one trace.", kInfo},
    {"overview", "overview", "--json",
     "Overview of a run: verdict, steps, time account, GPU utilization, kinds of work, rates, memory, first remedies, and what "
     "the recording lacks. Times in ns, sizes in bytes.",
     kInfo},
    {"why", "why", "--json",
     "The time account of each GPU: every nanosecond of the window is compute, exposed communication, exposed copies, or idle "
     "by cause (operator, python, launching, synchronizing, ...). Also the longest gaps, with what the host did then. All in "
     "ns.",
     kWhy},
    {"diagnose", "diagnose", "--json",
     "The verdict (what limits the run) and the findings: what costs time (cost_ns), the evidence, what it means, what to do.",
     kInfo},
    {"whatif", "whatif", "--json",
     "The trace replayed with changes: length of the run and of each step before and after, in ns, and the next bottleneck. "
     "Without a change: what each finding's remedy saves, and a plan.",
     kWhatIf},
    {"table", "table", "--json", "PyTorch's profiler table, equal to key_averages(): operators with their times.", kTable},
    {"kernels", "kernels", "--json",
     "GPU work by name: counts, times in ns, launch shapes, registers, shared memory in bytes, occupancy in %, and what the "
     "names mean.",
     kKernels},
    {"modules", "modules", "--json",
     "GPU and host time by nn.Module instance, forward and backward, total and self, in ns. Without recorded modules: by "
     "record_function regions.",
     kInfo},
    {"roofline", "roofline", "--json",
     "The shortest possible time of each operator by its shapes (floor_ns), the share of its roofline that it reached, what "
     "bounds it, and its headroom. Operations and bytes are of one call, kernel_ns of all calls. coverage is the share of "
     "kernel time that is counted.",
     kInfo},
    {"compile", "compile", "--json",
     "Compiled code of torch.compile: functions and versions, graph breaks, guard checks, compiled graphs, generated kernels "
     "with the operators that they fuse, compilations during the recording. Times in ns.",
     kInfo},
    {"steps", "steps", "--json", "The time of each step by cause, in ns.", kSteps},
    {"sql", "sql", "--json",
     "Read-only SQL on the trace: Perfetto's tables (slice, thread, process, args, flow, counter, ...) and kernel, gpu_gap, "
     "step, op, finding, account, device, rank, collective; nsys.TABLE of an export of Nsight Systems. Times in ns.",
     kSql},
    {"diff", "diff", "--json", "Compares two traces of one program: whether a change helped, and why. Times in ns.", kDiff},
    {"ranks", "ranks", "--json",
     "The traces of several ranks of one run: which rank is late at the collectives (late), how long the others wait for it "
     "(lost_ns) and what it did meanwhile (doing). Also each rank's account with the ranks that it waits for, every "
     "collective, and files that could not be used (problems). Times in ns.",
     kRanks},
    {"snapshot", "snapshot", "--json",
     "A memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot): sums of each GPU, memory by stack, line and category, "
     "growth from step to step, the peak, and why an allocation failed. All in bytes.",
     kSnapshot},
    {"screenshot", "screenshot", "", "The timeline as a PNG.", kScreenshot},
};

const Tool* tool_named(const std::string& name) {
  const auto found = std::find_if(std::begin(kTools), std::end(kTools), [&](const Tool& tool) { return tool.name == name; });
  return found != std::end(kTools) ? &*found : nullptr;
}

bool is_paged(const Tool& tool) { return std::string_view(tool.name) != "screenshot"; }

Json property(const Argument& argument) {
  Json out = {{"type", argument.kind == Kind::number   ? "integer"
                       : argument.kind == Kind::flag   ? "boolean"
                       : argument.kind == Kind::traces ? "array"
                                                       : "string"},
              {"description", argument.meaning}};
  if (argument.kind == Kind::traces) out["items"] = {{"type", "string"}};
  if (argument.kind == Kind::number) out["minimum"] = 0;
  return out;
}

Json schema_of(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const Argument& argument : tool.arguments) {
    properties[argument.name] = property(argument);
    if (argument.required) required.push_back(argument.name);
  }
  if (is_paged(tool))
    properties["cursor"] = {
        {"type", "integer"}, {"minimum", 0}, {"description", "where to continue: next_cursor of the previous answer"}};
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json text_content(std::string text, bool is_error) {
  return {{"content", Json::array({{{"type", "text"}, {"text", std::move(text)}}})}, {"isError", is_error}};
}
Json failure(const std::string& sentence) { return text_content(sentence, true); }

// The words of a value; an Error where it is of another kind, or a file that may not be opened.
Result<std::vector<std::string>> words_of(const Argument& argument, const Json& value, const AllowedFolders& folders) {
  const Error wrong{fmt::format("\"{}\" has the wrong type.", argument.name)};
  std::vector<std::string> words;
  if (*argument.option != '\0') words.emplace_back(argument.option);
  if (argument.kind == Kind::flag) {
    if (!value.is_boolean()) return wrong;
    return value.get<bool>() ? words : std::vector<std::string>{};
  }
  if (argument.kind == Kind::number) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0) return wrong;
    words.push_back(std::to_string(value.get<std::int64_t>()));
    return words;
  }
  const Json all = argument.kind == Kind::traces ? value : Json::array({value});
  if (!all.is_array()) return wrong;
  for (const Json& item : all) {
    if (!item.is_string()) return wrong;
    std::string text = item.get<std::string>();
    if (text.find('\0') != std::string::npos) return wrong;
    if (argument.kind == Kind::traces) {
      Result<std::vector<std::string>> files = folders.files(text);
      if (!files) return files.error();
      words.insert(words.end(), files->begin(), files->end());
      continue;
    }
    if (argument.kind == Kind::trace) {
      Result<std::string> file = folders.file(text);
      if (!file) return file.error();
      text = std::move(*file);
    } else if (*argument.option != '\0') {
      text = words.back() + "=" + text;  // one word, so that a text that begins with a dash is no option
      words.pop_back();
    }
    words.push_back(std::move(text));
  }
  return words;
}

// The command line of a call; options first, so that nothing that was given by its place can be one.
Result<std::vector<std::string>> command_of(const Tool& tool, const Json& given, const AllowedFolders& folders) {
  std::vector<std::string> options{tool.command}, places;
  if (*tool.always != '\0') options.emplace_back(tool.always);
  for (const auto& [name, ignored] : given.items()) {
    const bool known =
        (name == "cursor" && is_paged(tool)) || std::any_of(tool.arguments.begin(), tool.arguments.end(),
                                                            [&, &key = name](const Argument& a) { return a.name == key; });
    if (!known) return Error{fmt::format("{} has no argument \"{}\".", tool.name, name)};
  }
  for (const Argument& argument : tool.arguments) {
    if (!given.contains(argument.name)) {
      if (argument.required) return Error{fmt::format("{} requires \"{}\": {}.", tool.name, argument.name, argument.meaning)};
      continue;
    }
    Result<std::vector<std::string>> words = words_of(argument, given[argument.name], folders);
    if (!words) return words.error();
    auto& to = *argument.option == '\0' ? places : options;
    to.insert(to.end(), words->begin(), words->end());
  }
  options.emplace_back("--");
  options.insert(options.end(), places.begin(), places.end());
  return options;
}

// The JSON that a command printed: one, or one a statement.
Json parsed(const std::string& text) {
  if (Result<Json> whole = parse_json(text)) return std::move(*whole);
  Json last;
  std::size_t begin = 0;
  while (begin < text.size()) {  // several statements: the last one's rows
    const std::size_t end = text.find("]}\n", begin);
    if (end == std::string::npos) break;
    if (Result<Json> one = parse_json(std::string_view(text).substr(begin, end + 3 - begin))) last = std::move(*one);
    begin = end + 3;
  }
  return last;
}

Json paged_answer(const std::string& out, std::size_t cursor) {
  Json answer = parsed(out);
  if (answer.is_null()) return text_content(out, false);  // what is no JSON: .tables and .schema
  Page page = page_of(std::move(answer), cursor);
  Json content = text_content(json_text(page.answer, -1), false);
  if (page.next_cursor == 0 && page.first == 0) return content;
  const std::string rest =
      page.next_cursor == 0 ? "these are the last" : fmt::format("continue with cursor {}", page.next_cursor);
  content["content"].push_back({{"type", "text"},
                                {"text", fmt::format("Rows {} to {} of {}; {}.", page.first,
                                                     page.next_cursor == 0 ? page.rows : page.next_cursor, page.rows, rest)}});
  if (page.next_cursor != 0) content["_meta"] = {{"next_cursor", page.next_cursor}};
  return content;
}

Json image_content(const std::string& png) {
  return {{"content", Json::array({{{"type", "image"}, {"data", base64_text(png)}, {"mimeType", "image/png"}}})},
          {"isError", false}};
}

// What an address says of an argument.
Result<Json> value_of(const Argument& argument, const std::string& text) {
  const Error wrong{fmt::format("\"{}\" has the wrong type.", argument.name)};
  if (argument.kind == Kind::flag) {
    if (text != "true" && text != "false") return wrong;
    return Json(text == "true");
  }
  if (argument.kind != Kind::number) return Json(text);
  std::int64_t number = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (trouble != std::errc() || end != text.data() + text.size()) return wrong;
  return Json(number);
}

}  // namespace

Json Tools::list() const {
  Json out = Json::array();
  for (const Tool& tool : kTools)
    out.push_back({{"name", tool.name},
                   {"description", tool.description},
                   {"inputSchema", schema_of(tool)},
                   {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  return out;
}

bool Tools::knows(const std::string& name) const { return tool_named(name) != nullptr; }

Json Tools::open(const Json&) const {
  Json traces = Json::array();
  for (const std::string& path : folders_.traces(kMostTraces)) traces.push_back(path);
  return text_content(json_text({{"traces", std::move(traces)}}, -1), false);
}

Result<std::string> Tools::answer(const std::string& name, const Json& arguments, const std::stop_token& stop) const {
  Result<std::vector<std::string>> command = command_of(*tool_named(name), arguments, folders_);
  if (!command) return command.error();
  if (name == "screenshot") {
    command->insert(command->begin() + 1, {"-o", "-"});
    for (const std::string& folder : sources_) command->insert(command->begin() + 1, "--sources=" + folder);
  }
  Result<ChildResult> done = run_child(program_, *folders_.readable(), *command, {}, stop);
  if (!done) return done.error();
  // Of ranks, "problems" says which files were no use; the others' answer is one.
  const bool answered = done->exit_code == kOk || (name == "ranks" && done->error.empty() && !done->out.empty());
  if (!answered)
    return Error{done->error.empty() ? fmt::format("The command ended with exit code {}.", done->exit_code) : done->error};
  return std::move(done->out);
}

Result<Json> Tools::arguments_of(const std::string& name, const Texts& texts) const {
  Json out = Json::object();
  for (const auto& [key, text] : texts) {
    const auto& all = tool_named(name)->arguments;
    const auto argument =
        std::find_if(all.begin(), all.end(), [&, &wanted = key](const Argument& a) { return a.name == wanted; });
    if (argument == all.end()) return Error{fmt::format("{} has no argument \"{}\".", name, printable(key))};
    Result<Json> value = value_of(*argument, text);
    if (!value) return value.error();
    if (argument->kind == Argument::Kind::traces)
      out[key].push_back(std::move(*value));
    else if (out.contains(key))
      return Error{fmt::format("\"{}\" occurs twice.", key)};
    else
      out[key] = std::move(*value);
  }
  return out;
}

Json Tools::call(const std::string& name, const Json& arguments, const std::stop_token& stop) const {
  if (name == "open" && !arguments.contains("trace")) return open(arguments);
  std::size_t cursor = 0;
  if (arguments.contains("cursor")) {
    if (!arguments["cursor"].is_number_unsigned()) return failure("\"cursor\" must be an integer of at least 0.");
    cursor = arguments["cursor"].get<std::size_t>();
  }
  const Result<std::string> said = answer(name, arguments, stop);
  if (!said) return failure(said.error().message);
  return is_paged(*tool_named(name)) ? paged_answer(*said, cursor) : image_content(*said);
}

}  // namespace gapscope
