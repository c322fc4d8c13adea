<?php
/**
 * The page Settings → Assent.
 *
 * @package assent
 */

defined( 'ABSPATH' ) || exit;

/** Loads the texts, whose files are named by language (`pt-BR`, `de`), for all locales of that language. */
function assent_load_texts() {
	$parts   = explode( '_', determine_locale() );
	$locale  = implode( '-', array_slice( $parts, 0, 2 ) );
	$aliases = array(
		'nb'    => 'no',
		'nn'    => 'no',
		'zh-CN' => 'zh-Hans',
	);
	foreach ( array( $locale, $parts[0] ) as $tag ) {
		$tag = isset( $aliases[ $tag ] ) ? $aliases[ $tag ] : $tag;
		if ( load_textdomain( 'assent', dirname( __DIR__ ) . "/languages/$tag.mo" ) ) {
			return;
		}
	}
}
add_action( 'admin_init', 'assent_load_texts' );

/** The menu entry. */
function assent_add_page() {
	add_options_page( 'Assent', 'Assent', 'manage_options', 'assent', 'assent_show_page' );
}
add_action( 'admin_menu', 'assent_add_page' );

/** WordPress checks the nonce and the capability, and saves what `assent_sanitize` returns. */
function assent_register_setting() {
	register_setting(
		'assent',
		'assent',
		array(
			'type'              => 'array',
			'sanitize_callback' => 'assent_sanitize',
		)
	);
}
add_action( 'admin_init', 'assent_register_setting' );

/**
 * The settings to store: those that were, if the new ones can never work.
 *
 * @param mixed $given The form's fields.
 */
function assent_sanitize( $given ) {
	// WordPress calls this twice when it stores the option for the first time.
	static $checked = null;
	if ( null !== $checked ) {
		return $checked;
	}
	$field = static function ( $name ) use ( $given ) {
		return isset( $given[ $name ] ) && is_string( $given[ $name ] ) ? trim( $given[ $name ] ) : '';
	};
	$new   = array(
		'url'    => untrailingslashit( $field( 'url' ) ),
		'domain' => $field( 'domain' ),
		'mode'   => 'record' === $field( 'mode' ) ? 'record' : 'banner',
	);

	list( $kind, $text ) = assent_check( $new['url'], $new['domain'] );
	add_settings_error( 'assent', 'assent', $text, $kind );
	$checked = 'error' === $kind ? assent_settings() : $new;
	return $checked;
}

/** Pages in a cache have the former tags. */
function assent_empty_caches() {
	do_action( 'litespeed_purge_all' );
	do_action( 'cache_enabler_clear_complete_cache' );
	foreach ( array( 'rocket_clean_domain', 'w3tc_flush_all', 'wp_cache_clear_cache', 'sg_cachepress_purge_cache' ) as $empty ) {
		if ( function_exists( $empty ) ) {
			$empty();
		}
	}
}
add_action( 'add_option_assent', 'assent_empty_caches' );
add_action( 'update_option_assent', 'assent_empty_caches' );

/**
 * Adds the link to the settings to the list of plugins.
 *
 * @param string[] $links Those that are there.
 */
function assent_add_link( $links ) {
	$link = '<a href="' . esc_url( admin_url( 'options-general.php?page=assent' ) ) . '">' . esc_html__( 'Settings', 'assent' ) . '</a>';
	return array_merge( array( $link ), $links );
}
add_filter( 'plugin_action_links_' . plugin_basename( dirname( __DIR__ ) . '/assent.php' ), 'assent_add_link' );

/**
 * Other active plugins that seem to ask for consent, by the names of their folders.
 *
 * @return string[] Their names.
 */
function assent_other_banners() {
	$active  = array_merge( (array) get_option( 'active_plugins' ), array_keys( (array) get_site_option( 'active_sitewide_plugins' ) ) );
	$pattern = '/cookie|consent|gdpr|ccpa|complianz|iubenda|borlabs|usercentrics|onetrust|termly|axeptio|didomi|klaro|cmp\b/i';
	$names   = array();
	foreach ( get_plugins() as $file => $plugin ) {
		if ( in_array( $file, $active, true ) && preg_match( $pattern, $file ) && 0 !== strpos( $file, 'wp-consent-api/' ) ) {
			$names[] = $plugin['Name'];
		}
	}
	return $names;
}

/** What an administrator should know about other plugins. */
function assent_show_warnings() {
	$is_record = 'record' === assent_settings()['mode'];
	$others    = assent_other_banners();
	$texts     = array();
	if ( $is_record && ! assent_has_consent_api() ) {
		$texts[] = __( 'Nothing is recorded: the WP Consent API plugin is not active.', 'assent' );
	}
	if ( ! $is_record && $others ) {
		/* translators: %s: names of plugins */
		$text    = __( 'Another plugin seems to ask for consent, too: %s. Deactivate it, or let Assent record its choices.', 'assent' );
		$texts[] = sprintf( $text, implode( ', ', $others ) );
	}
	foreach ( $texts as $text ) {
		echo '<div class="notice notice-warning inline"><p>' . esc_html( $text ) . '</p></div>';
	}
}

/** The page itself. */
function assent_show_page() {
	$settings = assent_settings();
	$modes    = array(
		'banner' => array(
			__( 'Assent shows its banner', 'assent' ),
			__( 'If the WP Consent API plugin is active, Assent passes each choice on to other plugins.', 'assent' ),
		),
		'record' => array(
			__( 'Another plugin shows the banner; Assent records the choices', 'assent' ),
			__( 'This needs the WP Consent API plugin, and a banner that supports it.', 'assent' ),
		),
	);
	?>
	<div class="wrap">
		<h1>Assent</h1>
		<?php assent_show_warnings(); ?>
		<form action="options.php" method="post">
			<?php settings_fields( 'assent' ); ?>
			<table class="form-table" role="presentation">
				<tr>
					<th scope="row"><label for="assent-url"><?php esc_html_e( 'Address of the service', 'assent' ); ?></label></th>
					<td><input id="assent-url" name="assent[url]" type="url" class="regular-text code" dir="ltr" required placeholder="https://consent.example.com" value="<?php echo esc_attr( $settings['url'] ); ?>"></td>
				</tr>
				<tr>
					<th scope="row"><label for="assent-domain"><?php esc_html_e( 'Domain ID', 'assent' ); ?></label></th>
					<td><input id="assent-domain" name="assent[domain]" type="text" class="regular-text code" dir="ltr" required placeholder="dom_…" value="<?php echo esc_attr( $settings['domain'] ); ?>"></td>
				</tr>
				<tr>
					<th scope="row"><?php esc_html_e( 'Banner', 'assent' ); ?></th>
					<td><fieldset>
						<legend class="screen-reader-text"><?php esc_html_e( 'Banner', 'assent' ); ?></legend>
						<?php foreach ( $modes as $mode => list( $label, $description ) ) : ?>
							<label><input name="assent[mode]" type="radio" value="<?php echo esc_attr( $mode ); ?>" aria-describedby="assent-<?php echo esc_attr( $mode ); ?>" <?php checked( $settings['mode'], $mode ); ?>> <?php echo esc_html( $label ); ?></label>
							<p class="description" id="assent-<?php echo esc_attr( $mode ); ?>"><?php echo esc_html( $description ); ?></p><br>
						<?php endforeach; ?>
					</fieldset></td>
				</tr>
			</table>
			<?php submit_button( __( 'Save and check', 'assent' ) ); ?>
		</form>
	</div>
	<?php
}
