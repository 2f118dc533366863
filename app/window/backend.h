#pragma once
// What of a window is another thing on a desktop (app/window/desktop) than on a page in a browser (app/window/web).

namespace gapscope {

extern const char* const kShaderVersion;  // that Dear ImGui's shaders are written in
// What the key of GLFW's number types in the present layout; null where that is not known.
const char* typed_by_key(int key, int scancode);

}  // namespace gapscope
