#include "runner/cuda/vendor_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

std::vector<std::filesystem::path> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::filesystem::path> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return paths;
}

void append(std::vector<std::filesystem::path>& folders, const std::string& pattern) {
  for (const auto& path : matches(pattern)) folders.push_back(path);
}

struct Attempt {
  void* handle = nullptr;
  std::string path;
};

Attempt try_to_load(const std::string& path, std::string& reasons) {
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return {handle, path};
  // That a file is not there is said once, for all folders; that it cannot be loaded is worth
  // words.
  const char* why = dlerror();
  std::error_code ignored;
  const bool is_there =
      path.find('/') != std::string::npos && std::filesystem::exists(path, ignored);
  if (is_there && why) reasons += fmt::format("{}: {}; ", path, why);
  return {};
}

Attempt find(const LibraryName& name, const LibraryPlaces& places, std::string& reasons) {
  for (const std::string& file : name.file_names) {
    std::vector<std::string> candidates = {(places.beside_program / file).string(), file};
    for (const auto& folder : places.folders) candidates.push_back((folder / file).string());
    for (const std::string& candidate : candidates) {
      if (Attempt attempt = try_to_load(candidate, reasons); attempt.handle) return attempt;
    }
  }
  return {};
}

// The roots of the Python installations that the shell would find: of a virtual environment, whose
// python3 is a link to another one, both.
std::vector<std::string> python_roots(const std::string& path) {
  constexpr int kLinksMax = 8;
  std::vector<std::string> roots;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty() || folder.front() != '/') continue;
    std::filesystem::path python = std::filesystem::path(folder) / "python3";
    std::error_code none;
    for (int link = 0; link < kLinksMax && std::filesystem::exists(python, none); ++link) {
      roots.push_back(python.parent_path().parent_path().string());
      const std::filesystem::path target = std::filesystem::read_symlink(python, none);
      if (none) break;
      python = (python.parent_path() / target).lexically_normal();
    }
  }
  return roots;
}

}  // namespace

LibraryPlaces usual_library_places(const std::map<std::string, std::string>& environment) {
  LibraryPlaces places;
  std::error_code ignored;
  places.beside_program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto of = [&](const char* variable) {
    const auto found = environment.find(variable);
    return found == environment.end() ? std::string() : found->second;
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (!of(variable).empty()) places.folders.emplace_back(of(variable) + "/lib64");
  }
  append(places.folders, "/usr/local/cuda/lib64");
  append(places.folders, "/usr/local/cuda-*/lib64");
  append(places.folders, "/usr/lib/*-linux-gnu");
  append(places.folders, "/usr/local/nvidia/lib64");
  const std::string home = of("HOME").empty() ? "" : of("HOME") + "/.local";
  std::vector<std::string> roots = {of("VIRTUAL_ENV"), of("CONDA_PREFIX")};
  for (std::string& root : python_roots(of("PATH"))) roots.push_back(std::move(root));
  roots.insert(roots.end(), {home, "/usr/local", "/usr", "/opt/conda"});
  for (const std::string& root : roots) {
    if (root.empty()) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      append(places.folders, root + "/lib/python3*/" + packages + "/nvidia/*/lib");
      append(places.folders, root + "/lib/python3*/" + packages + "/torch/lib");
    }
  }
  return places;
}

LibraryPlaces usual_library_places() {
  std::map<std::string, std::string> environment;
  for (const char* variable :
       {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PATH", "HOME"}) {
    if (const char* value = std::getenv(variable)) environment[variable] = value;
  }
  return usual_library_places(environment);
}

VendorLibrary::VendorLibrary(const LibraryName& name, const LibraryPlaces& places)
    : title_(name.title) {
  std::string reasons;
  const Attempt attempt = find(name, places, reasons);
  if (!attempt.handle) {
    throw NoDevice("load " + title_,
                   fmt::format("{} was not found", fmt::join(name.file_names, ", ")),
                   fmt::format("{}looked beside the program, where the system's loader looks, in "
                               "CUDA's usual folders and in Python's packages",
                               reasons),
                   name.advice + " LD_LIBRARY_PATH may name its folder.");
  }
  handle_ = attempt.handle;
  path_ = attempt.path;
}

void* VendorLibrary::symbol_if_there(const char* name) const {
  return dlsym(handle_, name);
}

void* VendorLibrary::symbol(const char* name) const {
  if (void* found = symbol_if_there(name)) return found;
  throw NoDevice("use " + title_, fmt::format("{} has no function {}", path_, name), "",
                 "It is older than this program needs: install a newer one.");
}

}  // namespace llmb::runner::cuda
