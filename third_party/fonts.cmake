# Where Inter and JetBrains Mono lie on this machine, compiled in as defaults. Static faces only: stb_truetype draws
# TrueType and CFF outlines, and a variable font only at its default weight. The program checks again when it starts
# and falls back to Dear ImGui's own font.
set(font_folders /usr/share/fonts/opentype/inter /usr/share/fonts/truetype/inter /usr/share/fonts/truetype/jetbrains-mono
  /usr/share/fonts/TTF /usr/share/fonts/OTF /usr/local/share/fonts)
find_file(GAPSCOPE_FONT_SANS NAMES Inter-Regular.ttf Inter-Regular.otf PATHS ${font_folders} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
find_file(GAPSCOPE_FONT_SANS_BOLD NAMES Inter-SemiBold.ttf Inter-SemiBold.otf PATHS ${font_folders} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
find_file(GAPSCOPE_FONT_MONO NAMES JetBrainsMono-Regular.ttf PATHS ${font_folders} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)

add_library(gapscope_fonts INTERFACE)
add_library(gapscope::fonts ALIAS gapscope_fonts)
foreach(font GAPSCOPE_FONT_SANS GAPSCOPE_FONT_SANS_BOLD GAPSCOPE_FONT_MONO)
  if(NOT ${font})
    message(STATUS "${font} not found: text falls back to Dear ImGui's own font (install fonts-inter fonts-jetbrains-mono)")
  endif()
  target_compile_definitions(gapscope_fonts INTERFACE ${font}="$<$<BOOL:${${font}}>:${${font}}>")
endforeach()
