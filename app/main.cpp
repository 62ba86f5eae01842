#include "app/commands/commands.hpp"

int main(int argc, char** argv) { return static_cast<int>(cuszi::app::run(argc, argv)); }
