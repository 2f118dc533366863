#include "app/workload/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace gapscope::workload {
namespace {

constexpr int kUsage = 2;
constexpr std::int64_t kCheckedSize = 256;  // up to here the reference takes a second or two on one core
constexpr std::int64_t kLargestSize = 16384;
constexpr std::int64_t kLargestBatch = 4096;
constexpr int kMostSteps = 10'000;

// What was typed, before it is known to go together.
struct Typed {
  CaseId id = CaseId::kMatmulAdd;
  Options options;
  Variant variant = Variant::kPlain;
  std::vector<int> schedule;
  int steps = 3;
  bool batch_given = false, variant_given = false, steps_given = false, check_given = false;
};

// An option's words for the values of an enumeration. CLI11's own transformer names the numbers behind them in its
// errors.
template <class Value>
CLI::Validator words(const std::vector<std::pair<std::string_view, Value>>& table) {
  return CLI::Validator(
      [table](std::string& word) -> std::string {
        std::string known;
        for (const auto& [name, value] : table) {
          if (name == word) return word = std::to_string(static_cast<int>(value)), "";
          known += (known.empty() ? "" : ", ") + std::string(name);
        }
        return "\"" + word + "\" is none of " + known;
      },
      "");
}

template <class Value, class NameOf>
CLI::Validator words(std::initializer_list<Value> values, NameOf name_of) {
  std::vector<std::pair<std::string_view, Value>> table;
  for (const Value value : values) table.emplace_back(name_of(value), value);
  return words(table);
}

CLI::Validator case_words() {
  std::vector<std::pair<std::string_view, CaseId>> table;
  for (const CaseRow& row : case_rows()) table.emplace_back(row.name, row.id);
  return words(table);
}

std::string case_list() {
  std::string text = "Cases:\n";
  for (const CaseRow& row : case_rows()) {
    std::string name = "  " + std::string(row.name);
    name.resize(18, ' ');
    text += name + std::string(row.about) + "\n";
  }
  return text;
}

void declare_what(CLI::App& app, Typed& typed) {
  app.add_option("NAME", typed.id, "the case to run, see below")->required()->type_name("")->transform(case_words());
  app.add_option("--size", typed.options.size, "rows and columns of the matrices")
      ->check(CLI::Range(std::int64_t{1}, kLargestSize))
      ->capture_default_str();
  app.add_option("--dtype", typed.options.dtype, "bf16, fp16, fp32 or tf32 [bf16]")
      ->type_name("")
      ->transform(words({Dtype::kBf16, Dtype::kFp16, Dtype::kFp32, Dtype::kTf32}, dtype_name));
  app.add_option("--batch", typed.options.batch, "how many matrices, or rows of a linear layer")
      ->check(CLI::Range(std::int64_t{1}, kLargestBatch));
  app.add_option("--variant", typed.variant, "addmm: epilogue or copy [epilogue]; mul-add: two or fused [two]")
      ->type_name("")
      ->transform(words({Variant::kEpilogue, Variant::kCopy, Variant::kTwo, Variant::kFused}, variant_name));
  app.add_flag("--train", typed.options.train, "geglu-mlp: a backward pass and SGD as well");
  app.add_flag("--occupancy-query", typed.options.occupancy_query, "syncs: ask for the occupancy before launching");
}

void declare_how(CLI::App& app, Typed& typed) {
  CLI::Option* steps = app.add_option("--steps", typed.steps, "steps, every one marked")
                           ->check(CLI::Range(1, kMostSteps))
                           ->capture_default_str();
  app.add_option("--schedule", typed.schedule, "wait,warmup,active: only the active steps are marked")
      ->delimiter(',')
      ->expected(3)
      ->check(CLI::Range(0, kMostSteps))
      ->type_name("W,W,A")
      ->excludes(steps);
  app.add_flag("--warmup", typed.options.warmup, "ten runs before the first step, which is cold otherwise");
  app.add_flag("--graph", typed.options.graph, "capture the step as a CUDA graph and replay it");
  app.add_flag("--check,!--no-check", typed.options.check,
               "compare the results with the CPU's (without being asked: up to size 256)");
}

void declare(CLI::App& app, Typed& typed) {
  app.footer(case_list());
  declare_what(app, typed);
  declare_how(app, typed);
}

void note_what_was_given(const CLI::App& app, Typed& typed) {
  typed.batch_given = app.count("--batch") > 0;
  typed.variant_given = app.count("--variant") > 0;
  typed.check_given = app.count("--check") > 0;
}

// Empty when everything goes together.
std::string contradiction(const Typed& typed) {
  const CaseRow& row = case_row(typed.id);
  const std::string name(row.name);
  if (typed.batch_given && row.default_batch == 0) return name + " has no batch.";
  if (typed.variant_given && typed.variant != row.default_variant && typed.variant != row.other_variant)
    return name + " has no variant " + std::string(variant_name(typed.variant)) + ".";
  if (typed.options.train && typed.id != CaseId::kGegluMlp) return "--train belongs to geglu-mlp.";
  if (typed.options.occupancy_query && typed.id != CaseId::kSyncs) return "--occupancy-query belongs to syncs.";
  if (typed.options.graph && !row.can_be_graph) return name + " cannot be captured as a CUDA graph.";
  if (!typed.schedule.empty() && typed.schedule[2] == 0) return "--schedule needs at least one active step.";
  return "";
}

Options completed(const Typed& typed) {
  const CaseRow& row = case_row(typed.id);
  Options options = typed.options;
  options.id = typed.id;
  if (!typed.batch_given) options.batch = row.default_batch;
  options.variant = typed.variant_given ? typed.variant : row.default_variant;
  options.schedule =
      typed.schedule.empty() ? Schedule{0, 0, typed.steps} : Schedule{typed.schedule[0], typed.schedule[1], typed.schedule[2]};
  if (!typed.check_given) options.check = options.size <= kCheckedSize;
  return options;
}

Answer usage_error(std::string sentence) {
  if (!sentence.ends_with('.')) sentence += '.';
  return {"gapscope-workload: " + sentence + " Run `gapscope-workload --help` for what it takes.\n", kUsage};
}

}  // namespace

std::variant<Options, Answer> parse_command_line(std::vector<std::string> arguments) {
  CLI::App app("Runs a small CUDA workload, annotated with NVTX as PyTorch annotates its own, for a recorder to record.",
               "gapscope-workload");
  Typed typed;
  declare(app, typed);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return Answer{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  note_what_was_given(app, typed);
  const std::string trouble = contradiction(typed);
  if (!trouble.empty()) return usage_error(trouble);
  return completed(typed);
}

}  // namespace gapscope::workload
