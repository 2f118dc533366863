#include "core/analyze/kernel_name/shown_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/analyze/kernel_name/name_words.h"
#include "core/base/demangle.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostFacts = 10, kMostFactChars = 40, kMostFactsChars = 60;

// The last word of a qualified name.
Text without_namespaces(Text head) {
  const std::size_t at = head.rfind("::");
  return at == Text::npos ? head : head.substr(at + 2);
}

bool is_word(Text text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// "4" of "4u" and "4ul"; empty where it is no number.
Text number_in(Text text) {
  const std::size_t end = text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0);
  const Text suffix = end == Text::npos ? Text{} : text.substr(end);
  return suffix.empty() || suffix == "u" || suffix == "ul" || suffix == "l" ? text.substr(0, end) : Text{};
}

// "LogSoftMaxForwardEpilogue" of "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue", "2" of "(ns::Kind)2", "fp32"
// of "float"; empty for what is machinery.
std::string fact_of(Text argument) {
  if (argument.starts_with('(')) {  // a value of an enumeration
    const std::size_t close = argument.rfind(')');
    return close == Text::npos ? "" : std::string(number_in(argument.substr(close + 1)));
  }
  if (const Text type = type_word(argument); !type.empty()) return std::string(type);
  if (const Text number = number_in(argument); !number.empty()) return std::string(number);
  const Text name = without_namespaces(argument.substr(0, argument.find_first_of("<{(", argument.find("namespace)") + 1)));
  constexpr Text kMachinery[] = {
      "array", "Array", "unsigned int", "unsigned long", "OffsetCalculator", "TrivialOffsetCalculator"};
  if (std::find(std::begin(kMachinery), std::end(kMachinery), name) != std::end(kMachinery)) return {};
  if (!is_word(name) || name.size() > kMostFactChars) return {};
  const Text inside = argument.ends_with('>') ? argument.substr(argument.find('<') + 1) : Text{};
  const Text number = inside.empty() ? Text{} : number_in(inside.substr(0, inside.size() - 1));
  return std::string(name) + (number.empty() ? "" : "<" + std::string(number) + ">");  // OpaqueType<4>
}

// Facts, each once in a row.
class Facts {
 public:
  void add(std::string fact) {
    const bool same = !facts_.empty() && facts_.back() == fact;
    if (fact.empty() || same || facts_.size() == kMostFacts || chars_ + fact.size() > kMostFactsChars) return;
    chars_ += fact.size() + 2;
    facts_.push_back(std::move(fact));
  }
  bool empty() const { return facts_.empty(); }
  std::string behind(Text function) const { return std::string(function) + (facts_.empty() ? "" : "<" + joined(facts_) + ">"); }

 private:
  static std::string joined(const std::vector<std::string>& facts) {
    std::string text;
    for (const std::string& fact : facts) text += (text.empty() ? "" : ", ") + fact;
    return text;
  }
  std::vector<std::string> facts_;
  std::size_t chars_ = 0;
};

// A type or a number, not a functor.
bool is_value(Text argument) {
  return !type_word(argument).empty() || !number_in(argument).empty() || argument == "true" || argument == "false";
}

bool is_kernel_name(Text argument) { return is_word(argument) && !is_value(argument) && argument.find('_') != Text::npos; }

// Tensile spells out all its settings: "Cijk_Alik_Bljk_BBS_BH_MT32x32x256_MI16x16x1_SN_..." shows enough up to its tile.
Text without_settings(Text function) {
  const std::size_t tile = function.starts_with("Cijk_") ? function.find("_MT") : Text::npos;
  return tile == Text::npos ? function : function.substr(0, function.find('_', tile + 1));
}

bool is_plain(Text argument) { return argument.find('<') == Text::npos; }

}  // namespace

std::string name_to_show(const NameParts& parts, const KernelName& known) {
  const Text function = without_namespaces(parts.head);
  const std::vector<Text> arguments = split_arguments(parts.arguments);
  if (arguments.empty()) return std::string(without_settings(function));
  if (arguments.size() == 1 && is_kernel_name(arguments[0]))
    return std::string(arguments[0]);  // cutlass::Kernel2<cutlass_80_...>
  Facts facts;
  const bool has_operation = is_word(known.operation) && !known.operation.empty();
  if (has_operation && !contains_ignore_case(function, known.operation)) facts.add(known.operation);
  if (!std::all_of(arguments.begin(), arguments.end(), is_plain)) {
    facts.add(known.input_type);
    if (known.output_type != known.input_type) facts.add(known.output_type);
    facts.add(known.tile);
    facts.add(known.layout);
  }
  for (const Text argument : arguments) {
    if (has_operation && argument.find("UnaryFunctor<") != Text::npos) facts.add("scalar");  // one operand is a number
    if (!has_operation || is_value(argument)) facts.add(fact_of(argument));                  // else the operation says it
  }
  return facts.behind(function);
}

std::string kernel_title(std::string_view name_in_file) {
  std::string title = decode(name_in_file).short_name;
  return title.empty() ? std::string(name_in_file) : title;
}

std::string shown_name(const Trace& trace, SliceId slice) {
  return trace.kind(slice) == Kind::kernel ? kernel_title(trace.name(slice)) : demangle(trace.name(slice));
}

}  // namespace gapscope
