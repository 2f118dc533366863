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

constexpr Argument kTrace = {"trace", Kind::trace, true, "", "the trace: a path below the folders of this server"};
constexpr Argument kInfo[] = {kTrace};
constexpr Argument kOpen[] = {
    {"trace", Kind::trace, false, "", "the trace; without one, the answer lists the traces that there are"}};
constexpr Argument kWhy[] = {
    kTrace,
    {"device", Kind::number, false, "--device", "only this GPU"},
    {"range", Kind::text, false, "--range", "FROM:TO, nanoseconds of the trace or 1.2ms after its begin"},
    {"by_step", Kind::flag, false, "--by-step", "the account of each step too"}};
constexpr Argument kWhatIf[] = {
    kTrace,
    {"on", Kind::number, false, "--on", "of several ranks: the changes are those of this rank alone"},
    {"gpu", Kind::text, false, "--gpu", "a factor: GPU work takes so many times as long, 0.5 is a GPU twice as fast"},
    {"kernel", Kind::text, false, "--kernel",
     "RE=F: GPU work whose whole name matches a regular expression takes F times as long"},
    {"host", Kind::text, false, "--host", "a factor: the host takes so many times as long"},
    {"remove", Kind::text, false, "--remove", "slices of this name take no host time; a * stands for any text"},
    {"no_wait", Kind::flag, false, "--no-wait", "the host never waits for the GPU"},
    {"graph", Kind::flag, false, "--graph", "the launches of a step are replayed as one graph"},
    {"overlap_copies", Kind::flag, false, "--overlap-copies", "copies do not hold up the work that follows them"},
    {"full_queues", Kind::flag, false, "--full-queues", "launches that found their queue full return when it has room"},
    {"roofline", Kind::flag, false, "--roofline", "kernels last as long as their floor, by their recorded shapes"},
    {"others", Kind::traces, false, "",
     "the traces of the other ranks of its run: all are replayed together, a collective begins when the last rank comes"},
    {"rank", Kind::number, false, "--rank", "of several ranks: this one is never late"},
    {"link", Kind::text, false, "--link", "of several ranks: their links move so many GB/s (bus bandwidth, 2^30 bytes)"},
    {"path", Kind::flag, false, "--path", "what holds the run back at each moment, and sums of that by name"}};
constexpr Argument kTable[] = {
    kTrace,
    {"sort", Kind::text, false, "--sort", "a column in PyTorch's words: self_cuda_time_total, cpu_time_total, ..."},
    {"limit", Kind::number, false, "--limit", "at most so many rows"}};
constexpr Argument kKernels[] = {kTrace,
                                 {"sort", Kind::text, false, "--sort", "total, mean, count, max or cv"},
                                 {"limit", Kind::number, false, "--limit", "at most so many rows"}};
constexpr Argument kSteps[] = {
    kTrace,
    {"annotation", Kind::text, false, "--steps",
     "what marks a step: the name of an annotation, or a regular expression; without it ProfilerStep#N, or else what recurs"}};
constexpr Argument kSql[] = {
    kTrace,
    {"others", Kind::traces, false, "",
     "the traces of the other ranks of its run: the tables rank and collective tell of all of them, every "
     "other table of the lowest rank"},
    {"query", Kind::query, true, "--query",
     "statements, separated by semicolons. Times are nanoseconds. gapscope://sql/schema lists tables "
     "and columns with their units"}};
constexpr Argument kDiff[] = {{"before", Kind::trace, true, "", "the trace before"},
                              {"after", Kind::trace, true, "", "the trace after"},
                              {"step", Kind::text, false, "--step", "a number, median or all"}};
constexpr Argument kRanks[] = {{"traces", Kind::traces, true, "", "the ranks' traces, one a rank, or folders that hold them"},
                               {"align", Kind::text, false, "--align",
                                "how clocks become one: collectives (by the ends of collectives; this is so without it), base "
                                "(as the files state them) or "
                                "none"}};
constexpr Argument kScreenshot[] = {
    kTrace,
    {"from", Kind::text, false, "--from", "begin of the visible time: nanoseconds of the trace, or 1.2ms after its begin"},
    {"to", Kind::text, false, "--to", "its end, likewise"},
    {"select", Kind::text, false, "--select", "a slice's name, or part of one"},
    {"finding", Kind::text, false, "--finding", "a rule's id: show its costliest finding"},
    {"tab", Kind::text, false, "--tab", "the panel below the lanes"},
    {"size", Kind::text, false, "--size", "WIDTHxHEIGHT in pixels"}};

constexpr Argument kSnapshot[] = {
    {"trace", Kind::trace, true, "", "the snapshot, a pickle: a path below the folders of this server"},
    {"at", Kind::text, false, "--at", "the number of an event, peak or oom; without it, when the snapshot was taken"},
    {"device", Kind::number, false, "--device", "only this GPU"}};

constexpr Tool kTools[] = {
    {"open", "info", "--json",
     "What is in a trace: lanes, slices, devices, steps, what was odd about the file. Times in ns, sizes in bytes. Without a "
     "trace: which traces there are.",
     kOpen},
    {"info", "info", "--json", "The same as open, of a trace.", kInfo},
    {"overview", "overview", "--json",
     "How a run is: verdict, steps, time account, use of the GPU, kinds of work, rates, memory, what to do first, and what the "
     "recording lacks. Times in ns, sizes in bytes.",
     kInfo},
    {"why", "why", "--json",
     "The time account of each GPU: every nanosecond of the window is compute, exposed communication, exposed copies, or idle "
     "by cause (operator, python, launching, synchronizing, ...), "
     "with the longest gaps and what the host was in. All in ns.",
     kWhy},
    {"diagnose", "diagnose", "--json",
     "The verdict (what the run is bound by), and the findings: what costs time (cost_ns), the numbers that prove it, what it "
     "means, what to do.",
     kInfo},
    {"whatif", "whatif", "--json",
     "The trace replayed with changes: length of the run and of each step before and after, in ns, and what then holds it "
     "back. "
     "Without a change: what each finding's remedy would give, and a plan.",
     kWhatIf},
    {"table", "table", "--json", "PyTorch's profiler table, equal to key_averages(): operators with their times.", kTable},
    {"kernels", "kernels", "--json",
     "GPU work by name: counts, times in ns, launch shapes, registers, shared memory in bytes, occupancy in %, what the names "
     "tell.",
     kKernels},
    {"modules", "modules", "--json",
     "GPU and host time by nn.Module instance, forward and backward, whole and self, in ns; by record_function regions where "
     "no "
     "modules were recorded.",
     kInfo},
    {"roofline", "roofline", "--json",
     "How long each operator had to take by its shapes (floor_ns), what it reached of that, what bounds it, and its headroom: "
     "operations and bytes of one call, kernel_ns of all; coverage is the share of kernel time that is counted.",
     kInfo},
    {"compile", "compile", "--json",
     "What torch.compile's code did: pieces and versions, graph breaks, guard checks, compiled graphs, generated kernels with "
     "the operators that they fuse, what was compiled meanwhile. Times in ns.",
     kInfo},
    {"steps", "steps", "--json", "Where each step's time goes, in ns.", kSteps},
    {"sql", "sql", "--json",
     "SQL over the trace, read only: Perfetto's tables (slice, thread, process, args, flow, counter, ...) and kernel, gpu_gap, "
     "step, op, finding, account, device, rank, collective; nsys.TABLE of an export of Nsight Systems. Times in ns.",
     kSql},
    {"diff", "diff", "--json", "Two traces of one program compared: did a change help, and why. Times in ns.", kDiff},
    {"ranks", "ranks", "--json",
     "The traces of several ranks of one run together: which rank is late at the collectives (late), how long the others wait "
     "for "
     "it (lost_ns) and what it was doing meanwhile (doing), each rank's account with whom it waits for, every collective, and "
     "files that were no use (problems). Times in ns.",
     kRanks},
    {"snapshot", "snapshot", "--json",
     "A memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot): sums of each GPU, who holds what by stack, line and "
     "category, what grows from step to step, the peak, and why an allocation failed. All in bytes.",
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
        {"type", "integer"}, {"minimum", 0}, {"description", "where to go on: next_cursor of the answer before"}};
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
  const Error wrong{fmt::format("\"{}\" is of the wrong type.", argument.name)};
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
      if (argument.required) return Error{fmt::format("{} wants \"{}\": {}.", tool.name, argument.name, argument.meaning)};
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
  const std::string rest = page.next_cursor == 0 ? "these are the last" : fmt::format("go on with cursor {}", page.next_cursor);
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
  const Error wrong{fmt::format("\"{}\" is of the wrong type.", argument.name)};
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
  if (!answered) return Error{done->error.empty() ? fmt::format("It ended with {}.", done->exit_code) : done->error};
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
      return Error{fmt::format("\"{}\" is given twice.", key)};
    else
      out[key] = std::move(*value);
  }
  return out;
}

Json Tools::call(const std::string& name, const Json& arguments, const std::stop_token& stop) const {
  if (name == "open" && !arguments.contains("trace")) return open(arguments);
  std::size_t cursor = 0;
  if (arguments.contains("cursor")) {
    if (!arguments["cursor"].is_number_unsigned()) return failure("\"cursor\" is a whole number from 0.");
    cursor = arguments["cursor"].get<std::size_t>();
  }
  const Result<std::string> said = answer(name, arguments, stop);
  if (!said) return failure(said.error().message);
  return is_paged(*tool_named(name)) ? paged_answer(*said, cursor) : image_content(*said);
}

}  // namespace gapscope
