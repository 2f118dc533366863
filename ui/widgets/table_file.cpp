#include "ui/widgets/table_file.h"

#include <utility>

#include <imgui.h>

namespace gapscope {
namespace {

constexpr int kJustNow = 2;  // frames

struct TableFile {
  int drawn = -kJustNow - 1;  // frame in which a "Save CSV" was last
  bool wanted = false;
};
TableFile table_file;

}  // namespace

bool shows_table() {
  if (!ImGui::GetCurrentContext()) return false;
  const int frames = ImGui::GetFrameCount() - table_file.drawn;
  return frames >= 0 && frames <= kJustNow;
}

void want_table_saved() { table_file.wanted = true; }

bool take_table_wanted() {
  table_file.drawn = ImGui::GetFrameCount();
  return std::exchange(table_file.wanted, false);
}

}  // namespace gapscope
