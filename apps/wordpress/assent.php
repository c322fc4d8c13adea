<?php
/**
 * Plugin Name:       Assent
 * Description:       The consent banner of your own Assent service, or the memory of another banner's choices.
 * Version:           __VERSION__
 * Requires at least: 6.1
 * Requires PHP:      7.4
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       assent
 *
 * @package assent
 */

defined( 'ABSPATH' ) || exit;

/** Keeps optimizers from delaying, combining or moving a script: a late banner is no banner. */
const ASSENT_AS_IT_IS = array(
	'nowprocket'         => true, // WP Rocket.
	'data-noptimize'     => '1', // Autoptimize.
	'data-no-optimize'   => '1', // LiteSpeed Cache.
	'data-no-defer'      => '1', // LiteSpeed Cache, for inline scripts.
	'data-cfasync'       => 'false', // Cloudflare's Rocket Loader.
	'data-jetpack-boost' => 'ignore',
	'nitro-exclude'      => true, // NitroPack.
);

/**
 * The site's settings.
 *
 * @return array{url: string, domain: string, mode: string} `url` without a slash at its end; both are empty before the
 *     set-up. `mode`: `banner` (Assent asks) or `record` (another plugin asks).
 */
function assent_settings() {
	$stored = get_option( 'assent' );
	return array_merge(
		array(
			'url'    => '',
			'domain' => '',
			'mode'   => 'banner',
		),
		is_array( $stored ) ? $stored : array()
	);
}

/** Whether the WP Consent API is there. */
function assent_has_consent_api() {
	return function_exists( 'wp_has_consent' );
}

/**
 * Prints the tags. They are the same for all visitors, so that pages may be cached, and the service is not asked.
 *
 * With another banner, the published file only provides the domain's key: its widget does not start if `window.assent`
 * is taken.
 */
function assent_print_tags() {
	$settings  = assent_settings();
	$is_record = 'record' === $settings['mode'];
	$has_api   = assent_has_consent_api();
	if ( '' === $settings['domain'] || ( $is_record && ! $has_api ) ) {
		return;
	}
	$url  = $settings['url'];
	$file = static function ( $path ) use ( $url ) {
		wp_print_script_tag(
			array(
				'src'   => esc_url_raw( $url . $path ),
				'defer' => true,
			) + ASSENT_AS_IT_IS
		);
	};
	if ( $is_record ) {
		wp_print_inline_script_tag( 'window.assent = { open() {} };', ASSENT_AS_IT_IS );
	} elseif ( $has_api ) {
		// Before the widget, whose first event it must not miss.
		$file( '/bridge-wp-consent.js' );
	}
	$file( '/w/' . rawurlencode( $settings['domain'] ) . '.js' );
	if ( $is_record ) {
		$at   = static function ( $path ) use ( $url ) {
			return wp_json_encode( $url . $path, JSON_HEX_TAG | JSON_UNESCAPED_SLASHES );
		};
		$code = "import { createRecordClient } from {$at( '/record-client.js' )};\n"
			. "import { recordWpConsent } from {$at( '/record-wp-consent.js' )};\n"
			. 'const { domain, key } = window.assentConfig ?? {};' . "\n"
			. "if (key) recordWpConsent(createRecordClient({ api: {$at( '' )}, domain, key }));";
		wp_print_inline_script_tag( $code, array( 'type' => 'module' ) + ASSENT_AS_IT_IS );
	}
}
add_action( 'wp_head', 'assent_print_tags', 0 );

/**
 * Visitors opt in: until a cookie says that a category is allowed, it is not, for plugins that ask in PHP too.
 *
 * @param string $type What another banner says.
 */
function assent_consent_type( $type ) {
	$settings = assent_settings();
	return 'banner' === $settings['mode'] && '' !== $settings['domain'] ? 'optin' : $type;
}
add_filter( 'wp_get_consent_type', 'assent_consent_type' );

// The site's health page lists plugins that do not know the WP Consent API.
add_filter( 'wp_consent_api_registered_' . plugin_basename( __FILE__ ), '__return_true' );

if ( is_admin() ) {
	require __DIR__ . '/includes/check.php';
	require __DIR__ . '/includes/settings-page.php';
}
