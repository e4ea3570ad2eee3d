// SPDX-License-Identifier: Apache-2.0
#include "mesh.hpp"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/Importer.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace sparse_voxels {
namespace {

using tilehash_examples::picture;
using tilehash_examples::pixel;

struct corner {
  aiVector3D at, texture;
  aiColor4D colour;
};

// The paint of a part of a mesh.
struct paint {
  picture texture;  // empty: there is none
  aiColor4D plain{0.7F, 0.7F, 0.7F, 1};
};

paint paint_of(const aiMaterial& material, const std::filesystem::path& folder) {
  paint p;
  if (material.Get(AI_MATKEY_BASE_COLOR, p.plain) != aiReturn_SUCCESS)
    material.Get(AI_MATKEY_COLOR_DIFFUSE, p.plain);
  for (const auto kind : {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE}) {
    aiString name;
    if (material.GetTexture(kind, 0, &name) != aiReturn_SUCCESS) continue;
    const auto file = folder / name.C_Str();
    if (file.extension() != ".png" || !std::filesystem::exists(file)) continue;
    p.texture = tilehash_examples::read_png(file.string());
    return p;
  }
  return p;
}

pixel colour_at(const paint& p, const aiVector3D& texture, const aiColor4D& plain) {
  if (!p.texture.pixels.empty()) {
    // Textures repeat; their rows are counted from below.
    const auto place = [](float share, std::uint32_t n) {
      return std::min(n - 1, static_cast<std::uint32_t>((share - std::floor(share)) * static_cast<float>(n)));
    };
    return p.texture.at(place(texture.x, p.texture.width), place(1 - texture.y, p.texture.height));
  }
  const auto byte = [](float c) { return static_cast<std::uint32_t>(255 * std::clamp(c, 0.0F, 1.0F)); };
  return tilehash_examples::colour(byte(plain.r), byte(plain.g), byte(plain.b));
}

class painted_grid {
 public:
  explicit painted_grid(std::uint32_t side) : order_({side, side, side}), seen_(order_.max_key() + 1) {}

  // Points in rows on the triangle, close enough to miss no voxel that it passes through the middle of.
  void draw(const corner (&c)[3], const paint& p) {
    const float longest =
        std::max({(c[1].at - c[0].at).Length(), (c[2].at - c[0].at).Length(), (c[2].at - c[1].at).Length()});
    const auto n = static_cast<std::uint32_t>(2 * longest) + 1;
    for (std::uint32_t i = 0; i <= n; ++i) {
      for (std::uint32_t j = 0; i + j <= n; ++j) {
        const float u = static_cast<float>(i) / static_cast<float>(n);
        const float v = static_cast<float>(j) / static_cast<float>(n), w = 1 - u - v;
        const aiVector3D at = c[0].at * w + c[1].at * u + c[2].at * v;
        const auto key = order_.encode({static_cast<std::uint32_t>(at.x), static_cast<std::uint32_t>(at.y),
                                        static_cast<std::uint32_t>(at.z)});
        if (seen_[key]) continue;
        seen_[key] = true;
        found_.emplace_back(key, colour_at(p, c[0].texture * w + c[1].texture * u + c[2].texture * v,
                                           c[0].colour * w + c[1].colour * u + c[2].colour * v));
      }
    }
  }

  std::vector<voxel> voxels() {
    std::ranges::sort(found_);
    std::vector<voxel> all;
    all.reserve(found_.size());
    for (const auto& [key, colour] : found_) all.push_back({order_.decode(key), colour});
    return all;
  }

 private:
  tilehash::layouts::row_major<std::uint64_t, 3> order_;
  std::vector<bool> seen_;
  std::vector<std::pair<std::uint64_t, pixel>> found_;
};

}  // namespace

std::vector<voxel> voxelise(const std::string& path, std::uint32_t side) {
  Assimp::Importer importer;
  const aiScene* scene =
      importer.ReadFile(path, aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_SortByPType);
  if (scene == nullptr) throw std::runtime_error(path + ": " + importer.GetErrorString());
  aiVector3D low(1e30F, 1e30F, 1e30F), high = -low;
  const auto for_triangles = [&](auto use) {
    for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
      const aiMesh& mesh = *scene->mMeshes[m];
      for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
        if (mesh.mFaces[f].mNumIndices == 3) use(mesh, mesh.mFaces[f]);  // points and lines have no surface
      }
    }
  };
  for_triangles([&](const aiMesh& mesh, const aiFace& face) {
    for (unsigned i = 0; i < 3; ++i) {
      const aiVector3D& v = mesh.mVertices[face.mIndices[i]];
      low = {std::min(low.x, v.x), std::min(low.y, v.y), std::min(low.z, v.z)};
      high = {std::max(high.x, v.x), std::max(high.y, v.y), std::max(high.z, v.z)};
    }
  });
  const float extent = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  if (!(extent > 0)) throw std::runtime_error(path + ": the mesh has no faces; give one with a surface");

  // The largest extent fills all but a voxel on each side.
  const float scale = static_cast<float>(side - 2) / extent * 0.9999F;
  const auto middle = static_cast<float>(side) / 2;
  std::vector<paint> paints;
  for (unsigned m = 0; m < scene->mNumMaterials; ++m)
    paints.push_back(paint_of(*scene->mMaterials[m], std::filesystem::path(path).parent_path()));
  painted_grid grid(side);
  for_triangles([&](const aiMesh& mesh, const aiFace& face) {
    const paint& p = paints[mesh.mMaterialIndex];
    corner corners[3];
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned v = face.mIndices[i];
      corners[i] = {(mesh.mVertices[v] - (low + high) * 0.5F) * scale + aiVector3D(middle, middle, middle),
                    mesh.HasTextureCoords(0) ? mesh.mTextureCoords[0][v] : aiVector3D(),
                    mesh.HasVertexColors(0) ? mesh.mColors[0][v] : p.plain};
    }
    grid.draw(corners, p);
  });
  return grid.voxels();
}

}  // namespace sparse_voxels
