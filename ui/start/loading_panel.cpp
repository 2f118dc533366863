// How far a load is: shown only when it takes long enough to be noticed, over whatever is open.
#include <cmath>

#include "core/base/text.h"
#include "ui/app_ui.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr double kPatienceSeconds = 0.2;  // a window that comes and goes sooner is only a flicker
constexpr float kWidthLines = 38;         // in line heights

std::string bytes_text(const LoadingView& loading) {
  const std::string done = format_bytes(loading.bytes_done);
  return loading.bytes_total > 0 ? done + " of " + format_bytes(loading.bytes_total) : done;
}

void draw_bar(const LoadingView& loading) {
  const float height = ImGui::GetFontSize() * 0.5f;
  // A load of unknown length (a pipe) has no bar to fill: its bytes and events below are what moves.
  ImGui::ProgressBar(loading.fraction < 0 ? 0.0f : static_cast<float>(loading.fraction), {-1, height}, "");
}

}  // namespace

std::string loading_text(const LoadingView& loading) {
  std::string text = std::string(loading.stage) + "  " + bytes_text(loading) + "  " +
                     format_count(static_cast<std::int64_t>(loading.events)) + " events";
  // Whole seconds: it is a guess, and a figure that trembles is not read.
  if (loading.seconds_left >= 0.5)
    text += "  about " + format_count(static_cast<std::int64_t>(std::ceil(loading.seconds_left))) + " s left";
  return text;
}

void draw_loading(const LoadingView& loading, const WindowState& window, Requests& out) {
  if (loading.seconds < kPatienceSeconds) return;
  const Theme& theme = theme_of(window);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({ImGui::GetFontSize() * kWidthLines, 0});
  ImGui::Begin("##loading", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  draw_text(Face::sans, theme.text, "Opening " + elide_middle(loading.path, 56));
  draw_bar(loading);
  draw_text(Face::mono, theme.muted, loading_text(loading));
  if (ImGui::Button("Cancel")) out.add(CancelLoad{});
  draw_hover("Stop loading. The open trace stays open.");
  ImGui::End();
}

}  // namespace gapscope
