<?php
/**
 * Plugin Name: Their cookie banner
 * Description: A banner for tests that knows the WP Consent API.
 */

add_action(
	'wp_footer',
	function () {
		?>
		<button onclick="theirs('allow', 'allow')">Yes to theirs</button>
		<button onclick="theirs('allow', 'deny')">Some of theirs</button>
		<button onclick="theirs('deny', 'deny')">No to theirs</button>
		<script>
		function theirs(statistics, marketing) {
			wp_set_consent('functional', 'allow');
			wp_set_consent('statistics', statistics);
			wp_set_consent('marketing', marketing);
		}
		</script>
		<?php
	}
);
