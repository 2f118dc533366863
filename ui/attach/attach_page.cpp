#include "ui/attach/attach_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr float kPageWidth = 720;  // px at scale 1
constexpr float kListedRows = 6;

struct Length {
  Choice choice;
  Ns ns;
};
constexpr auto kLengths = std::to_array<Length>({
    {{"0.1 s", "For steps of a few milliseconds."}, 100'000'000},
    {{"0.5 s", "For steps of up to 100 ms."}, 500'000'000},
    {{"2 s", "For steps of up to half a second."}, 2'000'000'000},
    {{"10 s", "For longer steps: the trace grows with it."}, 10'000'000'000},
});

struct Page {
  AttachPage& page;
  const AttachView& now;
  const WindowState& window;
  Requests& out;
  const Theme& theme;

  bool can_be_asked(const AttachProgram& program) const { return !program.recording && !now.recording; }
  std::vector<std::int64_t> ticked() const {
    std::vector<std::int64_t> pids;
    for (const AttachProgram& program : now.programs)
      if (can_be_asked(program) && !page.left_out.contains(program.pid)) pids.push_back(program.pid);
    return pids;
  }
};

std::string gpus_text(const AttachProgram& program) {
  return program.gpus.empty() ? "-" : fmt::format("{}", fmt::join(program.gpus, ", "));
}

void draw_tick(const Page& at, const AttachProgram& program) {
  bool ticked = !at.page.left_out.contains(program.pid);
  ImGui::BeginDisabled(!at.can_be_asked(program));
  if (draw_checkbox("##tick", &ticked))
    ticked ? void(at.page.left_out.erase(program.pid)) : void(at.page.left_out.insert(program.pid));
  ImGui::EndDisabled();
  if (program.recording) draw_hover("It is recording already.", ImGuiHoveredFlags_AllowWhenDisabled);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  draw_text(Face::mono, at.theme.text, std::to_string(program.pid));
}

void draw_program(const Page& at, const AttachProgram& program) {
  const auto cell = [&](const std::string& text) {
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    draw_text(Face::mono, at.theme.muted, text);
  };
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_tick(at, program);
  cell(program.rank >= 0 ? std::to_string(program.rank) : "-");
  cell(gpus_text(program));
  if (program.gpus.empty()) draw_hover("Known only for programs that start to use a GPU while this page is open.");
  const std::string command = program.command.empty() ? "?" : printable(program.command);
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  const float room = ImGui::GetContentRegionAvail().x / text_width(Face::mono, "0");
  draw_text(Face::mono, at.theme.text, elide_middle(command, static_cast<std::size_t>(std::max(8.0f, room))));
  draw_hover(program.job != 0 ? fmt::format("{}\nSlurm job {}", command, program.job) : command);
}

std::vector<const AttachProgram*> by_rank(const std::vector<AttachProgram>& programs) {
  std::vector<const AttachProgram*> out;
  for (const AttachProgram& program : programs) out.push_back(&program);
  std::sort(out.begin(), out.end(), [](const AttachProgram* a, const AttachProgram* b) {
    return std::pair(a->rank, a->pid) < std::pair(b->rank, b->pid);
  });
  return out;
}

void draw_programs(const Page& at) {
  const float row = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const ImVec2 size{0, row * kListedRows};
  if (at.now.programs.empty()) {
    ImGui::BeginChild("nobody", size, true);
    if (at.now.trouble.empty()) draw_text(Face::sans, at.theme.text, "No program has polled yet.");
    draw_text(Face::sans, at.now.trouble.empty() ? at.theme.muted : at.theme.notable,
              at.now.trouble.empty() ? at.now.how_to_start : at.now.trouble, /*wrap=*/true);
    ImGui::EndChild();
    return;
  }
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersOuter;
  if (!ImGui::BeginTable("programs", 4, kFlags, size)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("Process", ImGuiTableColumnFlags_WidthFixed,
                          text_width(Face::mono, "4194304") + 2 * ImGui::GetFrameHeight());
  ImGui::TableSetupColumn("Rank", ImGuiTableColumnFlags_WidthFixed, text_width(Face::mono, "99999"));
  ImGui::TableSetupColumn("GPUs", ImGuiTableColumnFlags_WidthFixed, text_width(Face::mono, "0, 1, 2, 3"));
  ImGui::TableSetupColumn("Command", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableHeadersRow();
  for (const AttachProgram* program : by_rank(at.now.programs)) {
    ImGui::PushID(static_cast<int>(program->pid));
    draw_program(at, *program);
    ImGui::PopID();
  }
  ImGui::EndTable();
}

void draw_what(const Page& at) {
  std::array<Choice, kLengths.size()> choices{};
  std::transform(kLengths.begin(), kLengths.end(), choices.begin(), [](const Length& l) { return l.choice; });
  at.page.duration = draw_choice("lengths", choices, at.page.duration, at.window);
  const auto tick = [](const char* title, bool& on, const char* help) {
    ImGui::SameLine(0, ImGui::GetFontSize());
    draw_checkbox(title, &on);
    draw_hover(help);
  };
  tick("Shapes", at.page.what.shapes, "The shapes of operators' inputs: the tab Roofline needs them.");
  tick("Memory", at.page.what.memory, "Allocations: the tab Memory needs them.");
  tick("Stacks", at.page.what.stacks, "Python's frames and modules. The program runs slower during the recording.");
  if (at.page.what.stacks) draw_text(Face::sans, at.theme.notable, at.now.stacks_risk, /*wrap=*/true);
  ImGui::AlignTextToFramePadding();
  draw_text(Face::sans, at.theme.muted, "In");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  text_field("##folder", at.now.folder.c_str(), at.page.what.folder);
  draw_hover("Each recording gets its own folder inside this one.");
}

void ask(const Page& at, std::vector<std::int64_t> pids, bool as_second) {
  RecordPrograms what = at.page.what;
  what.pids = std::move(pids);
  what.duration = kLengths[at.page.duration].ns;
  what.as_second = as_second;
  at.out.add(std::move(what));
}

void draw_buttons(const Page& at, bool can_compare, bool enter) {
  std::vector<std::int64_t> pids = at.ticked();
  ImGui::BeginDisabled(pids.empty());
  const std::string title = pids.empty() ? "Record" : "Record " + counted(pids.size(), "program");
  const bool record = ImGui::Button((title + "###record").c_str());
  draw_hover("Record the ticked programs and open their trace (Enter). Several open together, as the ranks of one run.");
  bool compare = false;
  if (can_compare) {
    ImGui::SameLine();
    compare = ImGui::Button("Record and compare");
    draw_hover("Open the new trace below the current one, as B.");
  }
  ImGui::EndDisabled();
  if (!pids.empty() && (record || compare || enter)) ask(at, std::move(pids), compare);
}

void draw_progress(const Page& at) {
  const double done = at.now.seconds > 0 ? 1 - at.now.seconds_left / at.now.seconds : 0;
  ImGui::ProgressBar(static_cast<float>(std::clamp(done, 0.0, 1.0)), {-1, ImGui::GetFontSize() * 0.5f}, "");
  draw_text(Face::mono, at.theme.muted, attach_text(at.now));
  if (ImGui::Button("Cancel")) at.out.add(CancelRecording{});
  draw_hover("Stop waiting. A program that already records continues and writes its trace.");
}

}  // namespace

std::string attach_text(const AttachView& now) {
  if (now.to_ask > 0)
    return fmt::format("waiting until {} {}; each polls every 5 to 10 s", counted(now.to_ask, "program"),
                       now.to_ask == 1 ? "polls" : "poll");
  if (now.seconds_left > 0) return fmt::format("warming up, then recording: about {:.0f} s left", std::ceil(now.seconds_left));
  return fmt::format("waiting for {} to be written", counted(now.to_write, "trace"));
}

void take_attach_keys(AttachPage& page, std::vector<KeyPress>& presses) {
  const auto take = [&](Key key) {
    return std::erase_if(presses, [key](const KeyPress& press) { return press.key == key && press.mods == kNoMods; }) > 0;
  };
  if (!page.open) return;
  if (take(Key::escape)) page.open = false;
  if (take(Key::enter)) page.enter = true;
}

void draw_attach_page(AttachPage& page, const AttachView& now, bool can_compare, const WindowState& window, Requests& out) {
  if (std::exchange(page.recordings, now.recordings) != now.recordings)
    page.open = false;  // its trace is what is looked at now
  const bool enter = std::exchange(page.enter, false);
  if (page.open) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(display.x, kPageWidth * window.frame.scale), 0});
    const Page at{page, now, window, out, theme_of(window)};
    if (ImGui::Begin("Record a running program###attach", &page.open,
                     ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoNav)) {
      draw_programs(at);
      ImGui::BeginDisabled(now.recording);
      draw_what(at);
      ImGui::EndDisabled();
      if (!now.said.empty() && !now.recording) draw_text(Face::sans, at.theme.notable, now.said, /*wrap=*/true);
      now.recording ? draw_progress(at) : draw_buttons(at, can_compare, enter);
    }
    ImGui::End();
  }
  if (page.listens == page.open) return;
  page.listens = page.open;
  out.add(ListenForPrograms{page.open});
}

}  // namespace gapscope
