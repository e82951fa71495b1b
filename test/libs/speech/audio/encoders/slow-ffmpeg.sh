#!/bin/sh
# An ffmpeg that takes half a second to start, as on a machine whose processors are wanted by others.
sleep 0.5
exec ffmpeg "$@"
