package sessions

import "github.com/hookmux/hookmux/internal/selection/config"

// SettingsSource knows the settings as they are now.
type SettingsSource interface {
	Settings() *config.Settings
}
