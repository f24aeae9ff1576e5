// Package composetest holds docker-compose.yml, the Dockerfile and the files they mount to each other, as far as that can
// be done without Docker: what one of them names, another has.
package composetest
