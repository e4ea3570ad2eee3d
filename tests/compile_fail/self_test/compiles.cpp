// expect: any message
// SPDX-License-Identifier: Apache-2.0
int main() {}
