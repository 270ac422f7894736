// SPDX-License-Identifier: GPL-2.0
/*
 * netwire: ethtool.
 *
 * For a cable that stayed up, once nothing is on the wire,
 *
 *   tx_frames of one end = rx_frames + rx_ber_lost + rx_oversize + rx_nomem +
 *                          rx_pause of the other + its own tx_nomem
 *
 * and for one that went down, add tx_lost_in_flight on the right.
 */
#include <linux/ethtool.h>
#include <linux/math64.h>
#include <linux/rtnetlink.h>
#include "netwire.h"

static const char netwire_stat_names[][ETH_GSTRING_LEN] = {
	"tx_frames",
	"tx_bytes",
	"tx_busy_ns",
	"tx_ring_stops",
	"tx_dropped_link_down",
	"tx_lost_in_flight",
	"tx_nomem",
	"tx_paused_ns",
	"rx_frames",
	"rx_bytes",
	"rx_ber_lost",
	"rx_ber_corrupted",
	"rx_oversize",
	"rx_nomem",
	"rx_pause",
};

#define NETWIRE_TX_STATS	8

static void netwire_ethtool_tx(const struct netwire_tx_stats *stats, u64 *data)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->syncp);
		data[0] = u64_stats_read(&stats->packets);
		data[1] = u64_stats_read(&stats->bytes);
		data[2] = u64_stats_read(&stats->busy);
		data[3] = u64_stats_read(&stats->stops);
		data[4] = u64_stats_read(&stats->dropped);
		data[5] = u64_stats_read(&stats->lost);
		data[6] = u64_stats_read(&stats->nomem);
		data[7] = u64_stats_read(&stats->paused);
	} while (u64_stats_fetch_retry(&stats->syncp, start));
}

static void netwire_ethtool_rx(const struct netwire_rx_stats *stats, u64 *data)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->syncp);
		data[0] = u64_stats_read(&stats->packets);
		data[1] = u64_stats_read(&stats->bytes);
		data[2] = u64_stats_read(&stats->crc);
		data[3] = u64_stats_read(&stats->corrupted);
		data[4] = u64_stats_read(&stats->oversize);
		data[5] = u64_stats_read(&stats->nomem);
		data[6] = u64_stats_read(&stats->pause);
	} while (u64_stats_fetch_retry(&stats->syncp, start));
}

static void netwire_get_ethtool_stats(struct net_device *dev,
				      struct ethtool_stats *stats, u64 *data)
{
	struct netwire_port *port = netdev_priv(dev);

	netwire_ethtool_tx(&port->dir.stats, data);
	netwire_ethtool_rx(&port->stats, data + NETWIRE_TX_STATS);
}

static void netwire_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	if (set == ETH_SS_STATS)
		memcpy(data, netwire_stat_names, sizeof(netwire_stat_names));
}

static int netwire_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? ARRAY_SIZE(netwire_stat_names) :
				     -EOPNOTSUPP;
}

static void netwire_get_drvinfo(struct net_device *dev,
				struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "netwire", sizeof(info->driver));
}

/* The rate to the nearest Mbit/s, at least 1: a speed of 0 would mean that it is unknown. */
static int netwire_get_link_ksettings(struct net_device *dev,
				      struct ethtool_link_ksettings *cmd)
{
	struct netwire_port *port = netdev_priv(dev);
	u64 speed = div_u64(port->dir.params.rate + 500000, 1000000);

	cmd->base.speed = max_t(u64, speed, 1);
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_OTHER;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

const struct ethtool_ops netwire_ethtool_ops = {
	.get_drvinfo		= netwire_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= netwire_get_link_ksettings,
	.get_ts_info		= ethtool_op_get_ts_info,
	.get_strings		= netwire_get_strings,
	.get_sset_count		= netwire_get_sset_count,
	.get_ethtool_stats	= netwire_get_ethtool_stats,
};
