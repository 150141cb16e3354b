// The program of the link tests: it uses nothing, so whatever fails to link is the library's own.
int main() {}
