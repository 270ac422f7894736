// SPDX-License-Identifier: GPL-2.0
/*
 * dcb_nic: a NIC for tests that claims to do PFC in hardware.
 *
 * dcb0 discards all packets, like a dummy device.  Its data center bridging operations report that
 * priorities of the module parameter "pfc" send and obey pause frames in hardware.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>

static unsigned char dcb_nic_pfc;
module_param_named(pfc, dcb_nic_pfc, byte, 0644);
MODULE_PARM_DESC(pfc, "priorities whose pauses are the hardware's, a bit each");

static struct net_device *dcb_nic;

static int dcb_nic_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	pfc->pfc_cap = 8;
	pfc->pfc_en = READ_ONCE(dcb_nic_pfc);
	return 0;
}

static const struct dcbnl_rtnl_ops dcb_nic_dcb_ops = {
	.ieee_getpfc = dcb_nic_getpfc,
};

static netdev_tx_t dcb_nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops dcb_nic_ops = {
	.ndo_start_xmit	= dcb_nic_xmit,
};

static int __init dcb_nic_init(void)
{
	int err;

	dcb_nic = alloc_netdev(0, "dcb%d", NET_NAME_ENUM, ether_setup);
	if (!dcb_nic)
		return -ENOMEM;
	eth_hw_addr_random(dcb_nic);
	dcb_nic->netdev_ops = &dcb_nic_ops;
	dcb_nic->dcbnl_ops = &dcb_nic_dcb_ops;
	err = register_netdev(dcb_nic);
	if (err)
		free_netdev(dcb_nic);
	return err;
}

static void __exit dcb_nic_exit(void)
{
	unregister_netdev(dcb_nic);
	free_netdev(dcb_nic);
}

module_init(dcb_nic_init);
module_exit(dcb_nic_exit);
MODULE_DESCRIPTION("a NIC for tests that says it does PFC by itself");
MODULE_LICENSE("GPL");
