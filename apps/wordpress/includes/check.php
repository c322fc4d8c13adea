<?php
/**
 * Asks the service whether the settings are right.
 *
 * @package assent
 */

defined( 'ABSPATH' ) || exit;

/**
 * Asks for the domain's published file.
 *
 * @param string $url    Address of the service.
 * @param string $domain Id of the domain.
 * @return array{0: string, 1: string} What to show: `success`, `warning` (worth saving) or `error` (never right), and a
 *     text.
 */
function assent_check( $url, $domain ) {
	if ( ! preg_match( '#^https?://[^\s/?\#@]+(/[^\s?\#]*)?$#i', $url ) ) {
		return array( 'error', __( 'The address must begin with https:// or http://.', 'assent' ) );
	}
	if ( ! preg_match( '/^dom_[A-Za-z0-9_-]{1,60}$/', $domain ) ) {
		return array( 'error', __( 'The domain ID begins with dom_. You find it in the dashboard.', 'assent' ) );
	}
	// A site's administrator need not be the network's, whose machines must not be explored.
	$get    = is_multisite() && ! is_super_admin() ? 'wp_safe_remote_get' : 'wp_remote_get';
	$answer = $get(
		"$url/w/$domain.js",
		array(
			'timeout'             => 5,
			'redirection'         => 0,
			'limit_response_size' => 256 * KB_IN_BYTES,
			// What is cut off could not be unpacked.
			'headers'             => array( 'Accept-Encoding' => 'identity' ),
		)
	);
	/* translators: %s: the reason */
	$away = __( 'Saved, but the service does not answer: %s', 'assent' );
	if ( is_wp_error( $answer ) ) {
		return array( 'warning', sprintf( $away, $answer->get_error_message() ) );
	}
	$status = wp_remote_retrieve_response_code( $answer );
	if ( 429 === $status || $status >= 500 ) {
		return array( 'warning', sprintf( $away, "HTTP $status" ) );
	}
	if ( 404 === $status && false !== strpos( wp_remote_retrieve_body( $answer ), '"not_found"' ) ) {
		return array( 'error', __( 'The service has no active domain with this ID.', 'assent' ) );
	}
	$is_ours = '"domain":"' . preg_quote( $domain, '/' ) . '"(,"key":)?';
	if ( 200 !== $status || ! preg_match( "/$is_ours/", wp_remote_retrieve_body( $answer ), $found ) ) {
		return array( 'error', __( 'This is not the address of an Assent service.', 'assent' ) );
	}
	if ( ! isset( $found[1] ) ) {
		return array( 'warning', __( 'Saved. Nothing is published for this domain yet: publish its banner in the dashboard.', 'assent' ) );
	}
	return array( 'success', __( 'Saved. The service answers, and the banner is published.', 'assent' ) );
}
