// Renders without a display, under an Xvfb that the window starts itself.
#include <doctest/doctest.h>
#include <imgui.h>

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/window/desktop/virtual_display.h"
#include "app/window/window.h"
#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {

std::uint32_t rgb_at(const Image& image, int x, int y) {
  const auto at = static_cast<std::size_t>(y * image.width_px + x) * 4;
  return static_cast<std::uint32_t>(image.rgba[at] << 16 | image.rgba[at + 1] << 8 | image.rgba[at + 2]);
}

Image picture_with_red_corner(const WindowOptions& options) {
  auto window = Window::create(options);
  REQUIRE_MESSAGE(window.ok(), window.error().message);
  (*window)->begin_frame();
  ImGui::GetForegroundDrawList()->AddRectFilled({0, 0}, {40, 20}, IM_COL32(255, 0, 0, 255));
  (*window)->end_frame(0x14171C);
  return (*window)->screenshot();
}

}  // namespace

TEST_CASE("without a display the window renders at the asked size, top row first, and leaves no DISPLAY behind") {
  const test::SetVariable no_display("DISPLAY"), no_wayland("WAYLAND_DISPLAY");
  WindowOptions options;
  options.off_screen = true;
  options.width = 2100;  // wider than the virtual screen
  options.height = 300;
  const Image image = picture_with_red_corner(options);
  CHECK(image.width_px == 2100);
  CHECK(image.height_px == 300);
  CHECK(rgb_at(image, 5, 5) == 0xFF0000);
  CHECK(rgb_at(image, 60, 5) == 0x14171C);
  CHECK(rgb_at(image, 2099, 299) == 0x14171C);
  CHECK_FALSE(has_display());
}

TEST_CASE("an X server that does not end when it is asked to is killed") {
  const test::TempFolder folder;
  const std::string started = (folder.path() / "started").string();
  const auto server =
      folder.write("Xvfb", "#!/bin/sh\ntrap '' TERM\necho $$ > '" + started + "'\necho 77 >&3\nwhile :; do sleep 0.1; done\n");
  std::filesystem::permissions(server, std::filesystem::perms::owner_all);
  const test::SetVariable no_display("DISPLAY"), no_wayland("WAYLAND_DISPLAY");
  const test::SetVariable path("PATH", folder.path().string() + ":" + std::getenv("PATH"));
  { REQUIRE(VirtualDisplay::start().ok()); }
  int process = 0;
  std::ifstream(started) >> process;
  REQUIRE(process > 0);
  CHECK(kill(process, 0) == -1);
}

TEST_CASE("a picture written as PNG reads back the same") {
  const Image image{2, 1, {255, 0, 0, 255, 1, 2, 3, 128}};
  const test::TempFolder folder;
  const auto bytes = png_bytes(image);
  REQUIRE(bytes.ok());
  const auto back = read_png(folder.write("picture.png", *bytes));
  REQUIRE(back.ok());
  CHECK(back->width_px == 2);
  CHECK(back->rgba == image.rgba);
}
