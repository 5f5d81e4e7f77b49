// libmosquitto: MQTT 5 and 3.1.1.
#pragma once

#include <mosquitto.h>
#include <mqtt_protocol.h>
