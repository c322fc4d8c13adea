<?php
/**
 * Plugin Name: WP Consent API
 * Description: A stand-in for tests, with the functions, the cookies and the events of the plugin of that name.
 */

function wp_has_consent( $category ) {
	$type  = apply_filters( 'wp_get_consent_type', '' );
	$value = isset( $_COOKIE[ "wp_consent_$category" ] ) ? $_COOKIE[ "wp_consent_$category" ] : '';
	return '' === $type || 'allow' === $value || ( 'optout' === $type && '' === $value );
}

// As the real one, at the end of the page.
add_action(
	'wp_footer',
	function () {
		?>
		<script>
		var wp_fallback_consent_type = <?php echo wp_json_encode( apply_filters( 'wp_get_consent_type', '' ) ); ?>;
		<?php readfile( __DIR__ . '/wp-consent-api.js' ); ?>
		</script>
		<?php
	},
	1000
);

// What a plugin hears that asks in PHP, and how many requests WordPress has made for this page.
add_action(
	'wp_footer',
	function () {
		printf( '<p id="in-php">%s</p>', esc_html( wp_json_encode( array( 'statistics' => wp_has_consent( 'statistics' ), 'requests' => did_action( 'http_api_debug' ) ) ) ) );
	},
	2000
);
