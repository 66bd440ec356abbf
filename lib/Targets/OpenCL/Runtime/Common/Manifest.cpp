//===- Manifest.cpp - Read and check a package ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Files.h"
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace mlir::layout;
using json = nlohmann::json;

constexpr int64_t kMostOfSide = INT32_MAX;

/// Returns the size of an element in bytes, or 0 if the type is unknown.
static int64_t getElementBytes(const std::string &element) {
  static const auto *bytes = new std::map<std::string, int64_t>{
      {"i1", 1},  {"i8", 1},  {"i16", 2}, {"i32", 4},  {"i64", 8},
      {"f16", 2}, {"f32", 4}, {"f64", 8}, {"index", 8}};
  auto place = bytes->find(element);
  return place == bytes->end() ? 0 : place->second;
}

namespace {
/// A value of the manifest, a null pointer if it is missing, and its path, e.g.
/// `manifest.kernels[0].name`. Only the first error in a manifest is kept.
/// Reading an invalid integer returns the smallest allowed one.
class Node {
public:
  Node(const json *value, std::string path, std::string &error)
      : value(value), path(std::move(path)), error(error) {}

  void fail(const std::string &what) const {
    if (error.empty())
      error = path + " " + what;
  }
  bool isGood() const { return error.empty(); }

  bool has(const char *key) const {
    return value && value->is_object() && value->contains(key);
  }
  Node operator[](const char *key) const {
    Node child(has(key) ? &*value->find(key) : nullptr, path + "." + key,
               error);
    if (!child.value)
      child.fail("is missing");
    return child;
  }
  std::vector<Node> list() const {
    std::vector<Node> nodes;
    if (!value || !value->is_array()) {
      fail("is not a list");
      return nodes;
    }
    for (const json &each : *value)
      nodes.emplace_back(&each, path + "[" + std::to_string(nodes.size()) + "]",
                         error);
    return nodes;
  }
  int64_t number(int64_t least, int64_t most) const {
    const auto *number = value ? value->get_ptr<const int64_t *>() : nullptr;
    bool isBeyond = value && value->is_number_unsigned() && number &&
                    *number < 0; // 2^63 and more
    if (number && !isBeyond && *number >= least && *number <= most)
      return *number;
    fail("must be an integer of " + std::to_string(least) + " to " +
         std::to_string(most));
    return least;
  }
  /// Returns the value, which must be an index of a list of `count` elements.
  /// Otherwise records an error and returns 0.
  int64_t index(size_t count) const {
    if (!count)
      fail("refers to an empty list");
    return number(0, std::max<int64_t>(count, 1) - 1);
  }
  double real() const {
    static const auto *others = new std::map<std::string, double>{
        {"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}, {"-0.0", -0.0}};
    if (value && value->is_number())
      return value->get<double>();
    if (value && value->is_string()) {
      auto place = others->find(value->get<std::string>());
      if (place != others->end())
        return place->second;
    }
    fail("must be a number, \"nan\", \"inf\", \"-inf\" or \"-0.0\"");
    return 0;
  }
  bool isTrue() const {
    return value && value->is_boolean() && value->get<bool>();
  }
  std::string text() const {
    if (value && value->is_string())
      return *value->get_ptr<const std::string *>();
    fail("must be text");
    return "";
  }
  int64_t product(std::initializer_list<int64_t> factors) const {
    int64_t result = 1;
    for (int64_t factor : factors)
      if (__builtin_mul_overflow(result, factor, &result)) {
        fail("has more bytes than fit in 64 bits");
        return 0;
      }
    return result;
  }

private:
  const json *value;
  std::string path;
  std::string &error;
};

class Reader {
public:
  Reader(const std::string &directory, Manifest &manifest)
      : directory(directory), manifest(manifest) {}

  void read(const Node &root) {
    readTensors(root["inputs"], manifest.inputs);
    readTensors(root["outputs"], manifest.outputs);
    for (const Node &node : root["kernels"].list())
      readKernel(node);
    for (const Node &node : root["memory"].list())
      readMemory(node);
    std::vector<bool> isGiven(manifest.outputs.size());
    for (const Node &node : root["commands"].list()) {
      if (!node.isGood())
        return;
      readCommand(node);
      const PackageCommand &command = manifest.commands.back();
      if (command.action == PackageCommand::Download && node.isGood())
        isGiven[command.other] = true;
    }
    for (size_t i = 0; i < isGiven.size(); ++i)
      if (!isGiven[i])
        root["commands"].fail("download nothing to output " +
                              std::to_string(i));
  }

private:
  void readTensors(const Node &list, std::vector<PackageTensor> &tensors) {
    for (const Node &node : list.list()) {
      PackageTensor tensor;
      tensor.name = node.has("name") ? node["name"].text() : "";
      tensor.element = node["element"].text();
      tensor.bytes = getElementBytes(tensor.element);
      if (!tensor.bytes)
        node["element"].fail("is not an element type");
      for (const Node &size : node["sizes"].list()) {
        tensor.sizes.push_back(size.number(0, kMostOfSide));
        tensor.bytes = node.product({tensor.bytes, tensor.sizes.back()});
      }
      tensors.push_back(std::move(tensor));
    }
  }

  /// Reads the file that `node` names to `manifest.files`, unless it has been
  /// read, and returns its name, even after an error. Records an error if the
  /// name is empty or has a directory, or the file cannot be read.
  std::string readPart(const Node &node) {
    std::string name = node.text();
    if (name.empty() || name.find('/') != std::string::npos) {
      node.fail("must be the name of a file in the package");
      return name;
    }
    if (!manifest.files.count(name) &&
        !readFile(directory + "/" + name, manifest.files[name]))
      node.fail("is '" + name + "', which cannot be read");
    return name;
  }

  static int32_t readKind(const Node &node) {
    std::string kind = node.text();
    if (kind == "scalar")
      return -1;
    if (kind == "image2d")
      return LayoutClImage2D;
    if (kind == "image2d_array")
      return LayoutClImage2DArray;
    if (kind == "image3d")
      return LayoutClImage3D;
    if (kind != "buffer")
      node.fail("is '" + kind + "', which is not a kind of memory");
    return 0;
  }

  static void readKernelMetadata(const Node &node,
                                 LayoutClKernelMetadata &facts) {
    facts.any_groups = node.has("any_groups") && node["any_groups"].isTrue();
    facts.may_repeat = node.has("may_repeat") && node["may_repeat"].isTrue();
    if (node.has("operations"))
      facts.operations = node["operations"].number(0, INT64_MAX);
    if (node.has("bytes"))
      facts.bytes = node["bytes"].number(0, INT64_MAX);
    if (!node.has("items"))
      return;
    std::vector<Node> items = node["items"].list();
    if (items.size() != 3)
      return node["items"].fail("must have three sizes");
    for (int d = 0; d < 3; ++d)
      facts.items[d] = items[d].number(-1, INT64_MAX);
  }

  void readKernel(const Node &node) {
    PackageKernel kernel;
    kernel.name = node["name"].text();
    kernel.file = readPart(node["file"]);
    if (node.has("source"))
      kernel.source = readPart(node["source"]);
    readKernelMetadata(node, kernel.facts);
    for (const Node &argument : node["arguments"].list()) {
      int32_t kind = readKind(argument["kind"]);
      Node element = argument[kind < 0 ? "type" : "element"];
      kernel.arguments.push_back({kind, element.text()});
      if (!getElementBytes(kernel.arguments.back().element))
        element.fail("is not an element type");
      bool isRead =
          argument.has("access") && argument["access"].text() == "read_only";
      size_t number = kernel.arguments.size() - 1;
      if (isRead && number < 63)
        kernel.facts.writes &= ~(int64_t(1) << number);
    }
    manifest.kernels.push_back(std::move(kernel));
  }

  void readMemory(const Node &node) {
    PackageMemory memory;
    memory.kind = readKind(node["kind"]);
    memory.isConstant = node.has("constant") && node["constant"].isTrue();
    if (memory.kind < 0)
      node.fail("is a scalar");
    if (memory.kind == 0) {
      memory.element = node["element"].text();
      int64_t bytes = getElementBytes(memory.element);
      if (!bytes)
        node["element"].fail("is not an element type");
      memory.bytes =
          node.product({bytes, node["elements"].number(0, INT64_MAX)});
    } else {
      memory.width = node["width"].number(0, kMostOfSide);
      memory.height = node["height"].number(0, kMostOfSide);
      if (memory.kind != LayoutClImage2D)
        memory.slices = node["slices"].number(0, kMostOfSide);
      readChannel(node["channel_type"], memory);
      memory.bytes = node.product({memory.width, memory.height, memory.slices,
                                   4, getElementBytes(memory.element)});
    }
    manifest.memory.push_back(std::move(memory));
  }

  static void readChannel(const Node &node, PackageMemory &memory) {
    static const auto *channels =
        new std::map<std::string, std::pair<LayoutClChannel, const char *>>{
            {"CL_FLOAT", {LayoutClFloat, "f32"}},
            {"CL_HALF_FLOAT", {LayoutClHalf, "f16"}},
            {"CL_SIGNED_INT8", {LayoutClSigned8, "i8"}},
            {"CL_SIGNED_INT16", {LayoutClSigned16, "i16"}},
            {"CL_SIGNED_INT32", {LayoutClSigned32, "i32"}}};
    auto place = channels->find(node.text());
    if (place == channels->end())
      return node.fail("is not a channel type");
    memory.channel = place->second.first;
    memory.element = place->second.second;
  }

  void readCommand(const Node &node) {
    using Command = PackageCommand;
    static const auto *actions = new std::map<std::string, Command::Action>{
        {"upload", Command::Upload},
        {"copy", Command::Copy},
        {"download", Command::Download},
        {"launch", Command::Launch},
        {"release", Command::Release}};
    Command &command = manifest.commands.emplace_back();
    auto action = actions->find(node["command"].text());
    if (action == actions->end())
      return node["command"].fail("is not a command");
    command.action = action->second;
    if (command.action == Command::Launch)
      return readLaunch(node, command);
    command.memory = node["memory"].index(manifest.memory.size());
    if (!node.isGood())
      return;
    const PackageMemory &memory = manifest.memory[command.memory];
    if (memory.isConstant &&
        (command.action == Command::Copy ||
         command.action == Command::Release || node.has("input")))
      return node.fail("changes or releases a constant");
    if (memory.kind != 0 && !memory.isConstant &&
        command.action != Command::Release)
      return node.fail("copies an image, which only launches read and write");
    readOther(node, command, memory.bytes);
  }

  /// Reads the other end of an upload, copy or download: an input, output, file
  /// or memory object. Records an error unless it has `bytes` bytes, the size
  /// of the command's memory.
  void readOther(const Node &node, PackageCommand &command, int64_t bytes) {
    const char *key = command.action == PackageCommand::Copy       ? "from"
                      : command.action == PackageCommand::Download ? "output"
                      : node.has("file")                           ? "file"
                                                                   : "input";
    int64_t other = 0;
    if (command.action == PackageCommand::Release)
      return;
    if (std::strcmp(key, "file") == 0) {
      command.file = readPart(node[key]);
      other = manifest.files[command.file].size();
    } else if (command.action == PackageCommand::Copy) {
      command.other = node[key].index(manifest.memory.size());
      if (!node.isGood())
        return;
      if (manifest.memory[command.other].kind != 0)
        return node.fail("copies an image, which only launches read and write");
      other = manifest.memory[command.other].bytes;
    } else {
      const auto &tensors = command.action == PackageCommand::Download
                                ? manifest.outputs
                                : manifest.inputs;
      command.other = node[key].index(tensors.size());
      if (!node.isGood())
        return;
      other = tensors[command.other].bytes;
    }
    if (other != bytes)
      node[key].fail("has " + std::to_string(other) +
                     " bytes, but the memory has " + std::to_string(bytes));
  }

  void readLaunch(const Node &node, PackageCommand &command) {
    std::string name = node["kernel"].text(), file = node["file"].text();
    for (const PackageKernel &kernel : manifest.kernels)
      if (kernel.name == name && kernel.file == file)
        command.other = &kernel - manifest.kernels.data();
    if (command.other < 0)
      return node["kernel"].fail("is '" + name +
                                 "', which is not a kernel of '" + file + "'");
    int64_t *next = command.grid;
    for (const char *key : {"groups", "items"}) {
      std::vector<Node> sizes = node[key].list();
      if (sizes.size() != 3)
        return node[key].fail("must have three sizes");
      for (const Node &size : sizes)
        *next++ = size.number(next < command.grid + 3 ? 0 : 1, kMostOfSide);
    }
    const auto &expected = manifest.kernels[command.other].arguments;
    std::vector<Node> values = node["arguments"].list();
    if (values.size() != expected.size())
      return node["arguments"].fail(
          "must have " + std::to_string(expected.size()) +
          " entries, one for each argument of the kernel");
    for (size_t i = 0; i < values.size(); ++i)
      command.values.push_back(readValue(values[i], expected[i]));
  }

  PackageCommand::Value readValue(const Node &node,
                                  const PackageKernel::Argument &expected) {
    PackageCommand::Value value;
    if (expected.kind >= 0) {
      value.memory = node["memory"].index(manifest.memory.size());
      if (!node.isGood())
        return value;
      const PackageMemory &memory = manifest.memory[value.memory];
      if (memory.kind != expected.kind || memory.element != expected.element)
        node["memory"].fail("does not have the kind and the element type of "
                            "the kernel argument");
      return value;
    }
    Node scalar = node["scalar"];
    value.bytes = getElementBytes(expected.element);
    if (expected.element == "f32") {
      auto real = static_cast<float>(scalar.real());
      std::memcpy(value.data, &real, sizeof(real));
    } else if (expected.element == "f64") {
      double real = scalar.real();
      std::memcpy(value.data, &real, sizeof(real));
    } else if (expected.element == "f16") {
      scalar.fail("is f16, which no kernel supports");
    } else {
      int64_t most = INT64_MAX >> (64 - 8 * value.bytes);
      int64_t number = scalar.number(-most - 1, most);
      std::memcpy(value.data, &number, value.bytes); // little-endian
    }
    return value;
  }

  std::string directory;
  Manifest &manifest;
};
} // namespace

std::string mlir::layout::readManifest(const std::string &directory,
                                       Manifest &manifest) {
  std::string text, error;
  if (!readFile(directory + "/manifest.json", text))
    return "manifest.json cannot be read";
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded())
    return "manifest.json is not valid JSON, or is truncated";
  Reader(directory, manifest).read(Node(&value, "manifest", error));
  return error;
}
