#pragma once
// The file chooser of a desktop's portal, by D-Bus: the dialog that the desktop's own programs show, also out of a sandbox.
// Source: https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.FileChooser.html
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gapscope {

// Whether the session has such a portal. Asks its bus, which may take a while; never starts a bus.
bool has_portal_chooser();

// Shows the dialog, which begins in `folder` unless that is empty, until files are chosen (one, unless `several` may be) or it
// is closed: then there are none. Closes it once `ends()` is true. Nullopt where the portal does not answer.
std::optional<std::vector<std::string>> choose_by_portal(const std::string& folder, bool several,
                                                         const std::function<bool()>& ends);
// The same for one file to be written, under that name unless another is chosen. Whether a file that is there may be replaced
// is the dialog's to ask.
std::optional<std::vector<std::string>> save_by_portal(const std::string& folder, const std::string& name,
                                                       const std::function<bool()>& ends);

}  // namespace gapscope
