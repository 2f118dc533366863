// `gapscope help [TOPIC]`: a page of the guide as text for a terminal.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/subcommands.h"
#include "core/base/edit_distance.h"
#include "core/base/text.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/guide.h"

namespace gapscope {
namespace {

constexpr std::size_t kWidth = 100;

// Wrapped at spaces; lines after the first begin with `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out += fmt::format("\n{}", indent);
      column = indent.size();
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string indented(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += end == 0 ? "\n" : fmt::format("    {}\n", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

std::string text_of(std::string_view markdown) {
  using Kind = GuideBlock::Kind;
  const std::vector<GuideBlock> blocks = guide_blocks(markdown);
  std::string out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const GuideBlock& block = blocks[i];
    if (i > 0 && (block.kind != Kind::item || blocks[i - 1].kind != Kind::item)) out += '\n';
    switch (block.kind) {
      case Kind::heading: out += block.cells[0] + '\n'; break;
      case Kind::paragraph: out += wrapped(block.cells[0], ""); break;
      case Kind::item: out += wrapped("- " + block.cells[0], "  "); break;
      case Kind::code: out += indented(block.cells[0]); break;
      case Kind::row: {
        std::vector<std::vector<std::string>> rows;
        for (; i < blocks.size() && blocks[i].kind == Kind::row; ++i) rows.push_back(blocks[i].cells);
        --i;
        out += aligned_text(rows, 2, [](std::size_t) { return true; });
        break;
      }
    }
  }
  return out;
}

std::string list_of_pages() {
  std::vector<std::vector<std::string>> rows;
  for (const GuidePage& page : guide_pages()) rows.push_back({std::string(page.name), std::string(page.title)});
  return "Pages of the guide:\n" + aligned_text(rows, 2, [](std::size_t) { return true; }) +
         "\n`gapscope help PAGE` prints one, `gapscope help RULE` what a rule means, and `gapscope COMMAND --help` what a "
         "command takes.\n";
}

std::vector<std::string_view> topics() {
  std::vector<std::string_view> out;
  for (const GuidePage& page : guide_pages()) out.push_back(page.name);
  for (const Subcommand& row : subcommands()) out.push_back(row.name);
  for (const Rule* rule : all_rules()) out.push_back(rule->id);
  return out;
}

std::string no_such_topic(const std::string& topic) {
  const std::vector<std::string_view> names = topics();
  const auto nearest = std::ranges::min_element(names, {}, [&](std::string_view name) { return edit_distance(topic, name); });
  return fmt::format("The guide has no page \"{}\". The nearest name is \"{}\". `gapscope help` lists the pages.",
                     printable(topic), *nearest);
}

// A page; else the section of a rule; else what a command takes.
int run_help(const std::string& topic, const CLI::App& program) {
  if (topic.empty()) return print(list_of_pages());
  if (const GuidePage* page = guide_page(topic)) return print(text_of(page->text));
  if (const GuideSection section = guide_section(topic); !section.text.empty())
    return print(std::string(section.title) + "\n\n" + text_of(section.text));
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == topic) return print(command->help("gapscope"));
  return complain(kUsage, no_such_topic(topic));
}

}  // namespace

std::function<int()> declare_help(CLI::App& arguments) {
  auto topic = std::make_shared<std::string>();
  arguments.add_option("TOPIC", *topic, "a page of the guide, a rule or a command");
  return [topic, &arguments] { return run_help(*topic, *arguments.get_parent()); };
}

}  // namespace gapscope
