package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// pricesOf are the prices of a service's models. The mocks cost nothing, nor do providers on this machine at their own
// address. At another local address, a model without a price costs nothing: one that has a price is a way to somebody who
// charges, such as a proxy.
func (l Services) pricesOf(s *chain.Service) (pricing.Prices, error) {
	address := l.address(s)
	if l.mocks(s) || s.Free && address == s.URL {
		return pricing.Free, nil
	}
	prices, err := Prices(l.Data)
	if err == nil && service.IsLocal(address) {
		prices = prices.OrFree()
	}
	return prices, err
}

// free reports whether the calls of a service cost nothing.
func (l Services) free(s *chain.Service) bool {
	prices, err := l.pricesOf(s)
	if err != nil { // the launch tells it
		return false
	}
	models := l.models(s)
	if s.Embeds != "" {
		models = append(slices.Clone(models), s.Embeds)
	}
	return !slices.ContainsFunc(models, func(model string) bool { return !prices.Costless(model) })
}

// Prices are what models cost: the user's table over the one that comes along. Both are in the format of LiteLLM's
// model_prices_and_context_window.json.
func Prices(data string) (pricing.Prices, error) {
	prices, err := pricing.ReadPrices(assets.Prices())
	if err != nil {
		return nil, fmt.Errorf("the prices that come along: %w", err)
	}
	path := filepath.Join(data, config.PricesName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return prices, nil
	}
	var own pricing.Prices
	if err == nil {
		own, err = pricing.ReadPrices(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the prices in %s: %w; mend or remove the file", path, err)
	}
	maps.Copy(prices, own)
	return prices, nil
}
