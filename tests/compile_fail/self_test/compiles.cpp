// expect: any message
int main() {}
