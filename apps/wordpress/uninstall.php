<?php
/**
 * Deletes what the plugin has stored, in every site of the network.
 *
 * @package assent
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

if ( ! is_multisite() ) {
	delete_option( 'assent' );
	return;
}
$assent_sites = get_sites(
	array(
		'fields' => 'ids',
		'number' => 0,
	)
);
foreach ( $assent_sites as $assent_site ) {
	delete_blog_option( $assent_site, 'assent' );
}
