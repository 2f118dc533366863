#include "app/window/key_map.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <iterator>

namespace gapscope {
namespace {

struct NamedKey {
  int glfw;
  Key key;
};
constexpr NamedKey kNamedKeys[] = {
    {GLFW_KEY_LEFT, Key::left},       {GLFW_KEY_RIGHT, Key::right},
    {GLFW_KEY_UP, Key::up},           {GLFW_KEY_DOWN, Key::down},
    {GLFW_KEY_PAGE_UP, Key::page_up}, {GLFW_KEY_PAGE_DOWN, Key::page_down},
    {GLFW_KEY_HOME, Key::home},       {GLFW_KEY_END, Key::end},
    {GLFW_KEY_ESCAPE, Key::escape},   {GLFW_KEY_ENTER, Key::enter},
    {GLFW_KEY_KP_ENTER, Key::enter},  {GLFW_KEY_TAB, Key::tab},
    {GLFW_KEY_SPACE, Key::space},     {GLFW_KEY_BACKSPACE, Key::backspace},
    {GLFW_KEY_DELETE, Key::del},      {GLFW_KEY_INSERT, Key::insert},
    {GLFW_KEY_KP_ADD, Key::plus},     {GLFW_KEY_KP_SUBTRACT, Key::minus},
    {GLFW_KEY_KP_DIVIDE, Key::slash},
};

struct PunctuationKey {
  char character;
  Key key;
};
constexpr PunctuationKey kPunctuation[] = {
    {'?', Key::question}, {'/', Key::slash}, {',', Key::comma}, {'.', Key::period},       {';', Key::semicolon},
    {'+', Key::plus},     {'-', Key::minus}, {'=', Key::equal}, {'[', Key::left_bracket}, {']', Key::right_bracket},
};

constexpr Key offset(Key first, int steps) { return static_cast<Key>(static_cast<int>(first) + steps); }

Key key_from_position(int key) {
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) return offset(Key::a, key - GLFW_KEY_A);
  if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return offset(Key::digit_0, key - GLFW_KEY_0);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return offset(Key::digit_0, key - GLFW_KEY_KP_0);
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return offset(Key::f1, key - GLFW_KEY_F1);
  const auto* found = std::ranges::find(kNamedKeys, key, &NamedKey::glfw);
  return found == std::end(kNamedKeys) ? Key::none : found->key;
}

}  // namespace

Key punctuation_key(unsigned int code_point) {
  const auto* found = std::ranges::find(kPunctuation, static_cast<char>(code_point), &PunctuationKey::character);
  return code_point > 0x7F || found == std::end(kPunctuation) ? Key::none : found->key;
}

Key key_from_glfw(int glfw_key, const char* layout_name) {
  const char typed = layout_name && layout_name[0] && !layout_name[1] ? layout_name[0] : '\0';
  if (typed >= 'a' && typed <= 'z') return offset(Key::a, typed - 'a');
  const Key punctuation = punctuation_key(static_cast<unsigned char>(typed));
  return punctuation != Key::none ? punctuation : key_from_position(glfw_key);
}

unsigned char mods_from_glfw(int glfw_mods) {
  int mods = kNoMods;
  if (glfw_mods & GLFW_MOD_SHIFT) mods |= kShift;
  if (glfw_mods & GLFW_MOD_CONTROL) mods |= kCtrl;
  if (glfw_mods & GLFW_MOD_ALT) mods |= kAlt;
  if (glfw_mods & GLFW_MOD_SUPER) mods |= kSuper;
  return static_cast<unsigned char>(mods);
}

}  // namespace gapscope
