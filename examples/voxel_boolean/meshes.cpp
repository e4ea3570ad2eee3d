// SPDX-License-Identifier: Apache-2.0
#include "meshes.hpp"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/Importer.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace voxel_boolean {
namespace {

using triangle = std::array<aiVector3D, 3>;

std::vector<triangle> triangles_of(const std::string& path) {
  Assimp::Importer importer;
  const aiScene* scene =
      importer.ReadFile(path, aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_SortByPType);
  if (scene == nullptr) throw std::runtime_error(path + ": " + importer.GetErrorString());
  std::vector<triangle> triangles;
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& mesh = *scene->mMeshes[m];
    for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
      const aiFace& face = mesh.mFaces[f];
      if (face.mNumIndices != 3) continue;  // points and lines have no surface
      triangles.push_back({mesh.mVertices[face.mIndices[0]], mesh.mVertices[face.mIndices[1]],
                           mesh.mVertices[face.mIndices[2]]});
    }
  }
  return triangles;
}

double area_of(const triangle& t) { return 0.5 * ((t[1] - t[0]) ^ (t[2] - t[0])).Length(); }

}  // namespace

std::vector<point> sample_mesh(const std::string& path, std::uint32_t n) {
  const auto triangles = triangles_of(path);
  std::vector<double> area_up_to;  // and with each triangle
  double area = 0;
  aiVector3D low(1e30F, 1e30F, 1e30F), high = -low;
  for (const triangle& t : triangles) {
    area_up_to.push_back(area += area_of(t));
    for (const aiVector3D& v : t) {
      low = {std::min(low.x, v.x), std::min(low.y, v.y), std::min(low.z, v.z)};
      high = {std::max(high.x, v.x), std::max(high.y, v.y), std::max(high.z, v.z)};
    }
  }
  if (!(area > 0)) throw std::runtime_error(path + ": the mesh has no faces; give one with a surface");
  const float extent = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  const aiVector3D middle = (low + high) * 0.5F;

  // Point i is at the fraction (i + 1/2) / n of the area. An additive recurrence gives its position in its
  // triangle. That leaves smaller holes than random numbers do, so no flood enters.
  std::vector<point> points;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto at = std::upper_bound(area_up_to.begin(), area_up_to.end(), (i + 0.5) / n * area);
    const triangle& t = triangles[std::min<std::size_t>(at - area_up_to.begin(), triangles.size() - 1)];
    auto u = static_cast<float>(std::fmod(0.7548776662466927 * i, 1.0));
    auto v = static_cast<float>(std::fmod(0.5698402909980532 * i, 1.0));
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const aiVector3D p = (t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v - middle) * (1 / extent);
    points.push_back({p.x + 0.5F, p.y + 0.5F, p.z + 0.5F});
  }
  return points;
}

}  // namespace voxel_boolean
