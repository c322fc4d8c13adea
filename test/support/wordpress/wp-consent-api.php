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
		$type = wp_json_encode( apply_filters( 'wp_get_consent_type', '' ) );
		?>
		<script>
		var consent_api = { cookie_prefix: 'wp_consent' };
		const cookieOf = (category) => new RegExp(`(?:^|; )wp_consent_${category}=([^;]*)`).exec(document.cookie)?.[1] ?? '';
		function wp_has_consent(category) {
			const type = window.wp_consent_type ?? <?php echo $type; ?>;
			const value = cookieOf(category);
			return !type || value === 'allow' || (type === 'optout' && value === '');
		}
		function wp_set_consent(category, value) {
			const before = cookieOf(category);
			document.cookie = `wp_consent_${category}=${value}; path=/`;
			if (before === value) return;
			const changed = [];
			changed[category] = value;
			document.dispatchEvent(new CustomEvent('wp_listen_for_consent_change', { detail: changed }));
		}
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
